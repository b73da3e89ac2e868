// Reader of Harwell-Boeing and Rutherford-Boeing files (.rua, .rsa, .rb, ...): compressed columns in
// fixed-width Fortran fields.
#pragma once

#include "formats/io/read_matrix.hpp"
#include "formats/io/stream/input_bytes.hpp"

namespace sptile::formats {

/// Reads an assembled matrix with real, integer, pattern or (with `real_part`) complex values: unsymmetric,
/// rectangular, or the triangle of a symmetric, skew-symmetric or Hermitian matrix. Ignores right-hand sides.
/// Recognizes compressed text. Errc::bad_input with file and line; Errc::unsupported for elemental matrices
/// and complex values.
Result<ReadMatrix> read_harwell_boeing(InputBytes input, bool real_part);

}  // namespace sptile::formats
