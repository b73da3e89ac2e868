// Matrices in HDF5 files of other programs, of whatever kind.
#pragma once

#include <string>

#include "formats/io/hdf5_reader.hpp"
#include "formats/io/read_matrix.hpp"
#include "formats/progress.hpp"

namespace sptile::formats {

/// Reads a matrix of an HDF5 file of whatever kind its root tells: binsparse, AnnData (.h5ad), 10x Genomics.
/// HDF5 is not made for damaged files: a helper process calls it. Errc::bad_input with what the root has
/// where it is none of these. Reading ends soon after `progress` was cancelled.
Result<ReadMatrix> read_hdf5_matrix(const std::string& path, bool real_part,
                                    const Progress* progress = nullptr);
/// The same of a file that is open. `name` is for messages.
Result<ReadMatrix> read_hdf5_matrix(Result<Hdf5Reader> file, const std::string& name, bool real_part);

}  // namespace sptile::formats
