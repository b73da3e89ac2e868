// Random numbers to multiply, the same for any number of threads.
#pragma once

#include <cstdint>

#include "formats/core/buffer.hpp"
#include "formats/core/csr_view.hpp"

namespace sptile::tools {

/// A rows x n matrix in (-1, 1), one row at least: an operand is never null. Row k, column j depends on the
/// seed and on k * n + j only.
formats::Array random_dense(std::int64_t rows, std::int64_t n, DType dtype, std::uint64_t seed);

/// One value in (0.1, 1) for each entry, rounded to `dtype`: what a pattern is measured with where values
/// matter.
formats::Array random_values(const formats::CsrView& a, DType dtype, std::uint64_t seed);

}  // namespace sptile::tools
