// Matrices for benchmarks, read from any supported file, with periodic values.
#pragma once

#include <string>

#include "formats/core/csr.hpp"
#include "formats/core/error.hpp"

namespace sptile::tools {

/// Reads a bundle (*.h5), a raw CSR file (see formats/io/binary/raw_csr.hpp) or a Matrix Market file. Values
/// are a repeated sequence, independent of the file; DType::none makes it a pattern.
Result<formats::Csr> read_bench_matrix(const std::string& path, DType values);

}  // namespace sptile::tools
