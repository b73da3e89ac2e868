// Lets HDF5 build, or go on with, a file that is already open. HDF5's own drivers open by name, and between
// the creation of a file and its next opening somebody else can put another one in its place.
#pragma once

#include <hdf5.h>

namespace sptile::formats {

/// Registers the driver with HDF5; the caller unregisters it (H5FDunregister). Negative when HDF5 cannot.
[[nodiscard]] hid_t register_open_file_driver();

/// From now on files that are created or opened with the properties `access` are the file open as `fd`,
/// whatever name HDF5 is given. The descriptor stays the caller's, who closes it after HDF5 has closed its
/// file. False when HDF5 cannot.
[[nodiscard]] bool use_open_file(hid_t access, hid_t driver, int fd);

}  // namespace sptile::formats
