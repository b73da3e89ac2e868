// What the benchmark computes on the device besides the kernels that it times. Each function returns a
// cudaError_t; pointers are device memory, work goes to the default stream.
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

/// Fills with numbers in (low, high) that depend on the seed and the position only.
int fill_uniform(void* to, DType dtype, std::int64_t count, double low, double high, std::uint64_t seed);

/// A matrix on the device, offsets 32-bit as cuSPARSE likes them.
struct DeviceCsr {
  std::int64_t rows = 0, cols = 0, nnz = 0;
  const std::int32_t* row_ptr = nullptr;
  const std::int32_t* columns = nullptr;
  const void* values = nullptr;  ///< of `dtype`
  DType dtype = DType::f32;
  DType result = DType::f32;  ///< of what an operation writes
};

/// What a result of an operation should be, in the order of CSR.
struct ReferenceSums {
  double* sums = nullptr;     ///< of the products of each element
  float* absolute = nullptr;  ///< of their absolute values
};

/// Computes the yardstick of correctness; shares no code with the kernels. Operands are row-major, of n
/// columns without gaps, of a's type.
using Reference = int (*)(const DeviceCsr& a, const runtime::Operands& operands, std::int64_t n,
                          const ReferenceSums& to);

/// The reference of an operation; null where there is none on a device.
Reference reference_of(const runtime::Operation& op);

/// How far a result is from the reference.
struct Errors {
  /// Of all elements, |x - sum| / (absolute sum + smallest normal number): what Operation::error says.
  double relative = 0;
  double frobenius = 0;  ///< ||x - sums|| / ||sums||
};

/// Infinite or NaN when an element is. Element i of x is compared with sum number source[i], i where `source`
/// is null. Waits for the result.
int measure_errors(const void* x, DType dtype, const ReferenceSums& reference, const std::int64_t* source,
                   std::int64_t count, Errors& errors);

/// Reads `bytes` (a multiple of 16) `passes` times, past the L1 cache.
int read_repeatedly(const void* from, std::size_t bytes, int passes, int blocks, void* sink,
                    cudaStream_t stream);

}  // namespace sptile::tools::cuda
