// Reader of sparse matrices in MATLAB MAT-files of level 5 (versions 5 to 7).
#pragma once

#include <string_view>

#include "formats/io/read_matrix.hpp"
#include "formats/io/stream/input_bytes.hpp"

namespace sptile::formats {

/// Returns whether the first 128 bytes are those of a MAT-file, including level 4 and version 7.3, for which
/// read_mat reports Errc::unsupported.
bool is_mat(std::string_view head);

/// Reads the sparse matrix of a file, also inside structs. If there are several, reads the one named A at the
/// top level, or Problem.A (SuiteSparse collection). Logical values that are all true give a pattern.
/// Errc::bad_input or Errc::unsupported, naming the variable, if there is no sparse matrix, several of them,
/// complex values without `real_part`, or HDF5 (version 7.3). Allocations are bounded by the file's size.
Result<ReadMatrix> read_mat(InputBytes input, bool real_part);

}  // namespace sptile::formats
