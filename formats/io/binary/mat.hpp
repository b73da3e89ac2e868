// Sparse matrices in MATLAB's MAT-files of level 5 (versions 5 to 7).
#pragma once

#include <string_view>

#include "formats/io/read_matrix.hpp"
#include "formats/io/stream/input_bytes.hpp"

namespace sptile::formats {

/// True of the first 128 bytes of a MAT-file, also of level 4 and of version 7.3, which read_mat refuses by
/// name.
bool is_mat(std::string_view head);

/// Reads the only sparse matrix of a file, also in structs; of several the one called A, at the top or as
/// Problem.A (as the SuiteSparse collection has it). Logical values that are all true are a pattern.
/// Errc::bad_input and Errc::unsupported with the variable: for no sparse matrix, several, complex values
/// without `real_part`, HDF5 (version 7.3). Nothing is allocated from a number that the file's size does not
/// allow.
Result<ReadMatrix> read_mat(InputBytes input, bool real_part);

}  // namespace sptile::formats
