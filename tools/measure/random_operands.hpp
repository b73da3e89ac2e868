// Random operands that do not depend on the number of threads.
#pragma once

#include <cstdint>

#include "formats/core/buffer.hpp"
#include "formats/core/csr_view.hpp"

namespace sptile::tools {

/// Returns a rows x n matrix in (-1, 1) with at least one row, so that no operand is null. The element in row
/// k, column j depends only on the seed and on k * n + j.
formats::Array random_dense(std::int64_t rows, std::int64_t n, DType dtype, std::uint64_t seed);

/// Returns one value in (0.1, 1) per entry, rounded to `dtype`: the values of a pattern for measurements that
/// need values.
formats::Array random_values(const formats::CsrView& a, DType dtype, std::uint64_t seed);

}  // namespace sptile::tools
