// Device functions of the benchmark other than the measured kernels. Functions return a cudaError_t, pointers
// are device memory, and work is enqueued on the default stream.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "formats/core/dtype.hpp"
#include "runtime/core/operands.hpp"

namespace sptile::runtime {
struct Operation;
}

namespace sptile::tools::cuda {

/// Fills an array with numbers in (low, high) that depend only on the seed and the position.
int fill_uniform(void* to, DType dtype, std::int64_t count, double low, double high, std::uint64_t seed);

/// A matrix on the device, with the 32-bit offsets that cuSPARSE prefers.
struct DeviceCsr {
  std::int64_t rows = 0, cols = 0, nnz = 0;
  const std::int32_t* row_ptr = nullptr;
  const std::int32_t* columns = nullptr;
  const void* values = nullptr;  ///< elements of type `dtype`
  DType dtype = DType::f32;
  DType result = DType::f32;  ///< type of the result
};

/// Expected result of an operation, in CSR order.
struct ReferenceSums {
  double* sums = nullptr;     ///< sum of the products of each element
  float* absolute = nullptr;  ///< sum of their absolute values
};

/// Computes the reference result; shares no code with the kernels. Operands are row-major with n columns,
/// contiguous, of a's type.
using Reference = int (*)(const DeviceCsr& a, const runtime::Operands& operands, std::int64_t n,
                          const ReferenceSums& to);

/// Returns the reference of an operation; null if there is none on a device.
Reference reference_of(const runtime::Operation& op);

/// Errors of a result.
struct Errors {
  /// Maximum of |x - sum| / (absolute sum + smallest normal number), as Operation::error.
  double relative = 0;
  double frobenius = 0;  ///< ||x - sums|| / ||sums||
};

/// Computes the errors, which are infinite or NaN if an element is. Element i of x is compared with sum
/// source[i], or i if `source` is null. Synchronizes.
int measure_errors(const void* x, DType dtype, const ReferenceSums& reference, const std::int64_t* source,
                   std::int64_t count, Errors& errors);

/// Reads `bytes` (a multiple of 16) `passes` times, bypassing L1.
int read_repeatedly(const void* from, std::size_t bytes, int passes, int blocks, void* sink,
                    cudaStream_t stream);

}  // namespace sptile::tools::cuda
