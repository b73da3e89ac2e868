// Finds the helper program that was built or installed with this library or command.
#pragma once

#include <string>

#include "formats/core/error.hpp"

namespace sptile::formats {

/// The path of sptile-hdf5: in the folder of the file that this code was loaded from, or at a fixed place
/// relative to it, as builds, installations and wheels have it. No variable and no search path can name
/// another program. Errc::io with the places where it is missing.
Result<std::string> helper_path();

}  // namespace sptile::formats
