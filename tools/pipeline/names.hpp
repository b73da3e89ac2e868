// Checks names that users type against tables and proposes the nearest name for an unknown one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "formats/core/error.hpp"

namespace sptile::tools {

/// Finds the known name that means the same (see synonyms.hpp), else that with the fewest edits (swaps of
/// neighbours count once); empty when none is near.
std::string nearest_name(std::string_view name, const std::vector<std::string>& known);

/// Returns the error for an unknown name: proposes the nearest one and lists those that are known.
Error unknown_name(std::string_view what, std::string_view name, const std::vector<std::string>& known);

/// Returns the position of a name among those that are known. Case, '-', '_' and blanks do not matter:
/// "RS-Tile" finds "rs_tile". Errc::usage, as unknown_name, for other names.
Result<std::size_t> find_name(std::string_view what, std::string_view name,
                              const std::vector<std::string>& known);

/// The items of "a,b", as they stand.
std::vector<std::string> split_list(std::string_view list);

/// Splits "a,b" into names of `known`, in the order given, repeated ones once; "all" gives all.
Result<std::vector<std::string>> parse_names(std::string_view what, std::string_view list,
                                             const std::vector<std::string>& known);

/// Takes the `name` member of each row of a table.
template <class Table>
std::vector<std::string> names_of(const Table& table) {
  std::vector<std::string> names;
  for (const auto& row : table) names.emplace_back(row.name);
  return names;
}

/// The names, and a word that stands for more than one of them ("all") before them.
std::vector<std::string> names_with(std::string_view word, std::vector<std::string> names);

/// Names of formats::layouts().
std::vector<std::string> format_names();

}  // namespace sptile::tools
