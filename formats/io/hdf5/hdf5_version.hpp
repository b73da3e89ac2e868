// Which HDF5 runs; needs no header of HDF5.
#pragma once

#include <string>

namespace sptile::formats {

/// "1.10.8"
std::string hdf5_version();

}  // namespace sptile::formats
