// cuBLAS and cuSPARSE as yardsticks, found at run time: nothing is linked to them. T is float or double.
#pragma once

#include <cstdint>

#include "formats/core/error.hpp"
#include "tools/bench/layers/timing.hpp"

namespace sptile::tools::layers {

/// A row-major matrix without gaps, as it stands or transposed.
template <class T>
struct Factor {
  const T* data;
  bool transposed = false;
};

/// A row-major operand.
template <class T>
struct Rows {
  T* data;
  std::int64_t ld;
};

/// A CSR matrix in device memory.
template <class T>
struct Sparse {
  std::int64_t rows, columns, count;
  const std::int32_t *row_ptr, *column_ids;
  T* values;
};

/// Loads both. Errc::unsupported when this build does not know them or they cannot be loaded.
Status load_vendor(bool tf32);

/// out (rows x columns) = a (rows x inner) b (inner x columns).
template <class T>
Launch vendor_gemm(Factor<T> a, Factor<T> b, T* out, std::int64_t rows, std::int64_t columns,
                   std::int64_t inner);
/// c = a b with n columns: the fastest algorithm.
template <class T>
Launch vendor_spmm(const Sparse<T>& a, Rows<T> b, Rows<T> c, std::int64_t n);
/// Values of `a` = x y^T at its entries, with n features.
template <class T>
Launch vendor_sddmm(const Sparse<T>& a, Rows<T> x, Rows<T> y, std::int64_t n);

}  // namespace sptile::tools::layers
