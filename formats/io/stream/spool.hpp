// Pipes as files: some formats need to seek.
#pragma once

#include "formats/io/stream/input_bytes.hpp"

namespace sptile::formats {

/// Copies the rest of an input that can be read once to an unnamed temporary file in $TMPDIR, or /tmp, and
/// returns that file under the same name. Errc::io if reading or writing fails.
Result<InputBytes> spool(InputBytes input);

}  // namespace sptile::formats
