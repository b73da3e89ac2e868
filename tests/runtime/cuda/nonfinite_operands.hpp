// Dense operands with NaN, infinity and the largest numbers, to check IEEE arithmetic and unused elements.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "formats/core/csr.hpp"
#include "runtime/cuda/device_kernel.hpp"
#include "runtime/reference/element.hpp"

namespace sptile::test {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Rows of a dense operand, `ld` elements apart, of which the first `width` are used.
struct DenseRows {
  formats::Array& array;
  std::int64_t width, ld;

  void set(std::int64_t row, std::int64_t column, double x) const {
    runtime::write_element(array.view().dtype, array.data(), row * ld + column, x);
  }
};

/// Returns the number of entries of each column.
inline std::vector<std::int64_t> column_counts(const formats::Csr& a) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(a.cols));
  for (std::int64_t k = 0; k < a.nnz(); ++k) ++counts[static_cast<std::size_t>(a.col_idx[k])];
  return counts;
}

/// Fills elements on which no result depends with NaN: rows without entries, and the gaps between rows.
inline void poison_unused(const DenseRows& rows, const std::vector<std::int64_t>& counts) {
  for (std::int64_t r = 0; r < std::ssize(counts); ++r)
    for (std::int64_t j = counts[static_cast<std::size_t>(r)] == 0 ? 0 : rows.width; j < rows.ld; ++j)
      rows.set(r, j, kNaN);
}

/// Returns the largest factor that stays finite when a kernel rounds it to the precision of its products.
inline double largest_factor(const runtime::cuda::DeviceKernel& kernel) {
  switch (kernel.dense) {
    case DType::f16:
      return 65504;
    case DType::bf16:
      return 0x1.fep127;
    case DType::f64:
      return 0x1p1000;  // the f64 sums of the reference are finite
    default:
      return kernel.precision == runtime::Precision::tf32 ? 0x1.ffcp127 : std::numeric_limits<float>::max();
  }
}

}  // namespace sptile::test
