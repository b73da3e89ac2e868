// The only place that writes to standard output and standard error.
#pragma once

#include <cstdio>
#include <string_view>

#include "formats/core/error.hpp"

namespace sptile::tools {

/// Writes text at once, as printable() shows it: names, cells and keys of files may hold what a terminal
/// obeys. The colours of paint() pass where the stream has colours.
void write_text(std::FILE* stream, std::string_view text);

/// Writes one of ours to a terminal as it is: a sequence that moves its cursor.
void write_control(std::FILE* stream, std::string_view sequence);

/// Errc::io where standard output did not take everything that was written.
Status finish_output();

}  // namespace sptile::tools
