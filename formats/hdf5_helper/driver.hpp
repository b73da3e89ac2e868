// HDF5 file driver for files that are already open. HDF5's own drivers open files by name; between creation
// and reopening, another file could be substituted.
#pragma once

#include <hdf5.h>

namespace sptile::formats {

/// Registers the driver; the caller unregisters it (H5FDunregister). Returns a negative id on failure.
[[nodiscard]] hid_t register_open_file_driver();

/// Makes HDF5 use the file open as `fd` for files created or opened with the properties `access`, whatever
/// their name. The caller keeps ownership of the descriptor and closes it after HDF5 has closed its file.
/// Returns false on failure.
[[nodiscard]] bool use_open_file(hid_t access, hid_t driver, int fd);

}  // namespace sptile::formats
