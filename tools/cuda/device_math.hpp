// What the benchmark computes on the device besides the kernels that it times. Each function returns a
// cudaError_t; pointers are device memory, work goes to the default stream.
#pragma once

#include <cstddef>
#include <cstdint>

#include "formats/dtype.hpp"

namespace sptile::tools::cuda {

/// Fills with numbers in (low, high) that depend on the seed and the position only.
int fill_uniform(void* to, DType dtype, std::int64_t count, double low, double high, std::uint64_t seed);

/// A matrix on the device, offsets 32-bit as cuSPARSE likes them.
struct DeviceCsr {
  std::int64_t rows = 0, cols = 0, nnz = 0;
  const std::int32_t* row_ptr = nullptr;
  const std::int32_t* columns = nullptr;
  const void* values = nullptr;  ///< of `dtype`
  DType dtype = DType::f32;
};

/// Sums of the products of each element of C in double, and of their absolute values: the yardstick of
/// correctness. One thread for each element, in the order of CSR; shares no code with the kernels.
int reference_spmm(const DeviceCsr& a, const void* b, double* sums, float* absolute_sums, std::int64_t n);

/// The same for SDDMM: X Y^T at the entries of a, in CSR order. Eight threads for each entry.
int reference_sddmm(const DeviceCsr& a, const void* x, const void* y, double* sums, float* absolute_sums,
                    std::int64_t n);

/// How far a result is from the reference.
struct Errors {
  /// Of all elements, |x - sum| / (absolute sum + smallest normal number): what runtime::relative_error says.
  double relative = 0;
  double frobenius = 0;  ///< ||x - sums|| / ||sums||
};

/// Infinite or NaN when an element is. Element i of x is compared with sum number source[i], i where `source`
/// is null. Waits for the result.
int measure_errors(const void* x, DType dtype, const double* sums, const float* absolute_sums,
                   const std::int64_t* source, std::int64_t count, Errors& errors);

/// Reads `bytes` (a multiple of 16) `passes` times, past the L1 cache.
int read_repeatedly(const void* from, std::size_t bytes, int passes, int blocks, void* sink);

}  // namespace sptile::tools::cuda
