// csr on CUDA cores: 8, 16 or 32 lanes share a row, each with 16 bytes of every row of B.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/cuda/device_kernel.hpp"

namespace sptile::runtime::cuda {

/// Rows of the kernel "cuda.csr.rows".
std::span<const DeviceKernel> csr_kernels();

/// Rows of entries, in device memory; csr_schedule divides them.
struct CsrArrays {
  const std::int64_t* row_ptr;
  const std::int32_t* columns;
  const void* values;                        ///< null: ones
  const std::int32_t* row_ids = nullptr;     ///< of the rows; ~id: the result is added to C; null: 0, 1, ...
  const std::uint8_t* row_atomic = nullptr;  ///< for kernels that add: 1 where others add to the same row
};

/// Enqueues the same kernels for a part of a matrix, none when it has no rows. Gives a cudaError_t.
int launch_rows(DType values, DType dense, const CsrArrays& arrays, const Launch& launch,
                void* stream) noexcept;

}  // namespace sptile::runtime::cuda
