// Matrices in HDF5 files of other programs, of whatever kind.
#pragma once

#include <string>

#include "formats/io/read_matrix.hpp"

namespace sptile::formats {

/// Reads a matrix of an HDF5 file of whatever kind its root tells: binsparse, AnnData (.h5ad), 10x Genomics.
/// HDF5 is not made for damaged files: a child process tries first whether it crashes on this one.
/// Errc::bad_input with what the root has where it is none of these.
Result<ReadMatrix> read_hdf5_matrix(const std::string& path, bool real_part);
/// The same from an open file, which stays the caller's, without a trial; `name` is for messages.
Result<ReadMatrix> read_hdf5_matrix(int fd, const std::string& name, bool real_part);

}  // namespace sptile::formats
