// Harwell-Boeing and Rutherford-Boeing files (.rua, .rsa, .rb, ...): compressed columns in Fortran's fixed
// fields.
#pragma once

#include "formats/io/read_matrix.hpp"
#include "formats/io/stream/input_bytes.hpp"

namespace sptile::formats {

/// Reads an assembled matrix, real, integer, pattern or, with `real_part`, complex; unsymmetric, rectangular,
/// or the triangle of a symmetric, skew-symmetric or Hermitian one. Right-hand sides are left aside.
/// Compressed text is recognised. Errc::bad_input with file and line; Errc::unsupported for elemental
/// matrices and complex values.
Result<ReadMatrix> read_harwell_boeing(InputBytes input, bool real_part);

}  // namespace sptile::formats
