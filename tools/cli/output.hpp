// The only module that writes to standard output and standard error.
#pragma once

#include <cstdio>
#include <string_view>

#include "formats/core/error.hpp"

namespace sptile::tools {

/// Writes text immediately, converted by printable(), because names, cells and keys of files may contain
/// terminal control sequences. Color codes are kept if the stream has colors.
void write_text(std::FILE* stream, std::string_view text);

/// Writes a trusted control sequence, such as a cursor movement, to a terminal without conversion.
void write_control(std::FILE* stream, std::string_view sequence);

/// Errc::io if writing to standard output failed.
Status finish_output();

}  // namespace sptile::tools
