// Matrices in HDF5 files of other programs, of whatever kind.
#pragma once

#include <string>

#include "formats/io/hdf5/hdf5_reader.hpp"
#include "formats/io/read_matrix.hpp"

namespace sptile::formats {

/// Reads a matrix of an HDF5 file of whatever kind its root tells: binsparse, AnnData (.h5ad), 10x Genomics.
/// `name` is for messages. Errc::bad_input with the contents of the root if it is none of these.
Result<ReadMatrix> read_hdf5_matrix(Result<Hdf5Reader> file, const std::string& name, bool real_part);

}  // namespace sptile::formats
