// Pictures as PNG files.
#pragma once

#include <string>

#include "formats/core/error.hpp"
#include "tools/spy/raster.hpp"

namespace sptile::tools::spy {

/// Encodes an image as 8-bit grey PNG. The same image gives the same bytes. Errc::unsupported when it is too
/// large.
Result<std::string> encode_png(const Image& image);

}  // namespace sptile::tools::spy
