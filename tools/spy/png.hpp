// PNG encoder.
#pragma once

#include <string>

#include "formats/core/error.hpp"
#include "tools/spy/raster.hpp"

namespace sptile::tools::spy {

/// Encodes an image as 8-bit grayscale PNG. Equal images give equal bytes. Errc::unsupported if it is too
/// large.
Result<std::string> encode_png(const Image& image);

}  // namespace sptile::tools::spy
