// What the CUDA benchmark computes on the device besides the kernels that it times.
#pragma once

#include <cstddef>
#include <cstdint>

#include "formats/dtype.hpp"

namespace sptile::bench {

/// Fills with numbers in (low, high) that depend on the seed and the position only.
void fill_uniform(void* to, DType dtype, std::int64_t count, double low, double high, std::uint64_t seed);

/// A matrix on the device, offsets 32-bit as cuSPARSE likes them.
struct DeviceCsr {
  std::int64_t rows = 0, cols = 0, nnz = 0;
  const std::int32_t* row_ptr = nullptr;
  const std::int32_t* columns = nullptr;
  const void* values = nullptr;  ///< of `dtype`
  DType dtype = DType::f32;
};

/// C = A B with double sums, one thread for each element: the yardstick of correctness.
void reference_spmm(const DeviceCsr& a, const void* b, double* c, std::int64_t n);

/// ||x - reference|| / ||reference||; NaN when an element is.
double frobenius_distance(const void* x, DType dtype, const double* reference, std::int64_t count);

}  // namespace sptile::bench
