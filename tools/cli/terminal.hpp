// What stands behind standard output and standard error: a terminal, and how wide it is, or a file or a pipe.
#pragma once

#include <cstdio>
#include <optional>

namespace sptile::tools {

/// Columns where nothing says how many there are.
inline constexpr int kUsualColumns = 80;

/// Columns of the terminal behind a stream; nothing where there is none.
std::optional<int> terminal_columns(std::FILE* stream);

/// True when a stream is a terminal that can move its cursor and change colours: $TERM says so of those that
/// cannot.
bool is_capable_terminal(std::FILE* stream);

}  // namespace sptile::tools
