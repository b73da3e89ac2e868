// The columns of an edge list: names and roles, fields of a line.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sptile::formats {

/// White space inside a line; a carriage return ends a line.
inline bool is_white(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f'; }

std::string_view trimmed(std::string_view text);

/// Separators in the order in which they are tried; ' ' is any run of white space.
struct EdgeSeparator {
  char separator;
  std::string_view name;
};
inline constexpr EdgeSeparator kEdgeSeparators[] = {
    {';', "semicolons"}, {',', "commas"}, {'\t', "tabs"}, {' ', "blanks"}};

inline constexpr std::size_t kMostFields = 64;

/// The fields of a line, without white space and quotes around them. `count` is kMostFields + 1 where there
/// are more than kMostFields.
struct EdgeFields {
  std::array<std::string_view, kMostFields + 1> field;
  std::size_t count = 0;
};

/// Splits a line at the separator, but not inside double or single quotes and not inside a dictionary in
/// braces.
void split_fields(std::string_view line, char separator, EdgeFields& fields);

enum class EdgeRole { source, target, weight, time, id, unknown };

/// The role of a column of this name, in any case and with any punctuation: "FromNodeId" is a source.
EdgeRole edge_role(std::string_view name);

/// Which column is what; a column without a role is left out.
struct EdgeColumns {
  static constexpr std::size_t kNone = kMostFields;
  std::size_t count = 0;
  std::size_t source = kNone, target = kNone, weight = kNone;

  [[nodiscard]] bool complete() const { return source != kNone && target != kNone; }
};

/// Assigns roles to columns. Returns an error message where two columns have the same role.
std::optional<std::string> assign_roles(const std::vector<EdgeRole>& roles, EdgeColumns& columns);

/// The weight in a dictionary that networkx writes behind an edge, "{'weight': 3}", as text; empty where
/// there is none. Appends the names of other attributes to `others`, each once.
std::string_view weight_attribute(std::string_view dictionary, std::vector<std::string>& others);

}  // namespace sptile::formats
