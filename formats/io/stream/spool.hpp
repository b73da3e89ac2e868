// Conversion of pipes to files, for formats that require seeking.
#pragma once

#include "formats/io/stream/input_bytes.hpp"

namespace sptile::formats {

/// Copies the rest of a sequential input to an unnamed temporary file in $TMPDIR or /tmp. Returns that file
/// under the same name. Errc::io if reading or writing fails.
Result<InputBytes> spool(InputBytes input);

}  // namespace sptile::formats
