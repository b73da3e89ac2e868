// Reader of matrices in HDF5 files of other programs.
#pragma once

#include <string>

#include "formats/io/hdf5/hdf5_reader.hpp"
#include "formats/io/read_matrix.hpp"

namespace sptile::formats {

/// Reads the matrix of an HDF5 file whose kind is detected from its root: binsparse, AnnData (.h5ad) or 10x
/// Genomics. `name` is for messages. Errc::bad_input, listing the contents of the root, for other files.
Result<ReadMatrix> read_hdf5_matrix(Result<Hdf5Reader> file, const std::string& name, bool real_part);

}  // namespace sptile::formats
