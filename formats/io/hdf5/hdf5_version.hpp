// Version of the HDF5 library in use, without headers of HDF5.
#pragma once

#include <string>

namespace sptile::formats {

/// Returns the version, such as "1.10.8".
std::string hdf5_version();

}  // namespace sptile::formats
