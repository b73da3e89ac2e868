// Columns of an edge list: names, roles, and fields of a line.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sptile::formats {

/// Returns whether a character separates words inside a line; a carriage return ends a line.
inline bool is_white(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f'; }

std::string_view trimmed(std::string_view text);

/// Separators in the order in which they are tried; ' ' matches any run of white space.
struct EdgeSeparator {
  char separator;
  std::string_view name;
};
inline constexpr EdgeSeparator kEdgeSeparators[] = {
    {';', "semicolons"}, {',', "commas"}, {'\t', "tabs"}, {' ', "blanks"}};

inline constexpr std::size_t kMaxFields = 64;

/// Fields of a line, without surrounding white space and quotes. `count` is kMaxFields + 1 if there are more
/// than kMaxFields.
struct EdgeFields {
  std::array<std::string_view, kMaxFields + 1> field;
  std::size_t count = 0;
};

/// Splits a line at the separator, except inside double or single quotes and dictionaries in braces.
void split_fields(std::string_view line, char separator, EdgeFields& fields);

enum class EdgeRole { source, target, weight, time, id, unknown };

/// Returns the role of a column with this name, ignoring case and punctuation: "FromNodeId" is a source.
EdgeRole edge_role(std::string_view name);

/// Column indices by role; columns without a role are ignored.
struct EdgeColumns {
  static constexpr std::size_t kNone = kMaxFields;
  std::size_t count = 0;
  std::size_t source = kNone, target = kNone, weight = kNone;

  [[nodiscard]] bool complete() const { return source != kNone && target != kNone; }
};

/// Assigns roles to columns. Returns an error message if two columns have the same role.
std::optional<std::string> assign_roles(const std::vector<EdgeRole>& roles, EdgeColumns& columns);

/// Returns the text of the weight in a dictionary that networkx writes after an edge ("{'weight': 3}"), or an
/// empty text. Appends the names of other attributes to `others`, without duplicates.
std::string_view weight_attribute(std::string_view dictionary, std::vector<std::string>& others);

}  // namespace sptile::formats
