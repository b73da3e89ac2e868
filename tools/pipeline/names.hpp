// Checks names that users type against tables and proposes the nearest name for an unknown one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "formats/core/error.hpp"

namespace sptile::tools {

/// Returns the known name that is a synonym (see synonyms.hpp), or the one with the fewest edits (swaps of
/// neighbours count once); empty if none is close.
std::string nearest_name(std::string_view name, const std::vector<std::string>& known);

/// Returns the error for an unknown name, with the nearest name and the list of known ones.
Error unknown_name(std::string_view what, std::string_view name, const std::vector<std::string>& known);

/// Returns the index of a name in `known`, ignoring case, '-', '_' and blanks: "RS-Tile" finds "rs_tile".
/// Errc::usage, as unknown_name, for other names.
Result<std::size_t> find_name(std::string_view what, std::string_view name,
                              const std::vector<std::string>& known);

/// Splits "a,b" at commas, without checks.
std::vector<std::string> split_list(std::string_view list);

/// Splits names at commas except those between settings: "csr,rs_tile:tau_nnz=3,rule=none" has two names.
std::vector<std::string> split_names(std::string_view list);

/// Splits "a,b" into names of `known`, in the given order without duplicates; "all" returns all.
Result<std::vector<std::string>> parse_names(std::string_view what, std::string_view list,
                                             const std::vector<std::string>& known);

/// Returns the `name` member of each row of a table.
template <class Table>
std::vector<std::string> names_of(const Table& table) {
  std::vector<std::string> names;
  for (const auto& row : table) names.emplace_back(row.name);
  return names;
}

/// Returns the names, preceded by a word for several of them, such as "all".
std::vector<std::string> names_with(std::string_view word, std::vector<std::string> names);

/// Returns the names of formats::layouts().
std::vector<std::string> format_names();

}  // namespace sptile::tools
