// Terminal properties of standard output and standard error.
#pragma once

#include <cstdio>
#include <optional>

namespace sptile::tools {

/// Default number of columns.
inline constexpr int kUsualColumns = 80;

/// Returns the columns of a stream's terminal; nullopt if it is not a terminal.
std::optional<int> terminal_columns(std::FILE* stream);

/// Returns whether a stream is a terminal that can move its cursor and change colors, according to $TERM.
bool is_capable_terminal(std::FILE* stream);

}  // namespace sptile::tools
