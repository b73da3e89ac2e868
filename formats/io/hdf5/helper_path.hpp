// Locates the helper program that was built or installed with this library or command.
#pragma once

#include <string>

#include "formats/core/error.hpp"

namespace sptile::formats {

/// Returns the path of sptile-hdf5: in the folder of the file that contains this code, or at a fixed place
/// relative to it, as in builds, installations and wheels. Ignores environment variables and search paths.
/// Errc::io, listing the places, if it is missing.
Result<std::string> helper_path();

}  // namespace sptile::formats
