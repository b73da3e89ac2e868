// Matrices of the CUDA benchmark.
#pragma once

#include <string>

#include "formats/csr.hpp"
#include "formats/error.hpp"

namespace sptile::bench {

/// Reads Matrix Market text (also compressed) or a raw CSR file: int32 0x43535231, rows, columns; int64
/// entries; int32 row pointers and columns. Values are random in (0.1, 1), rounded to `dtype`.
Result<formats::Csr> read_matrix(const std::string& path, DType dtype);

/// "roadNet" of "/tmp/roadNet.csr".
std::string name_of_file(const std::string& path);

}  // namespace sptile::bench
