// csr on CUDA cores: 8, 16 or 32 lanes share a row, each with 16 bytes of every row of B; 32 lanes with twice
// 16 bytes where rows of B are whole multiples of 1,024 bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "runtime/core/kernel.hpp"
#include "runtime/cuda/collective/csr_schedule.hpp"
#include "runtime/cuda/device_kernel.hpp"

namespace sptile::runtime::cuda {

inline constexpr std::string_view kCsrRows = "cuda.csr.rows";

std::span<const Kernel> csr_rows();

std::span<const DeviceKernel> csr_kernels();

/// Rows of entries, in device memory; append_csr divides them.
struct CsrArrays {
  const std::int64_t* row_ptr;
  const std::int32_t* columns;
  const void* values;                     ///< null: ones
  const std::int32_t* row_ids = nullptr;  ///< of the rows; ~id: the result is added to C; null: 0, 1, ...
  /// The kernel before writes rows that this one adds to, and admits this one early: see csr_spmm.
  bool overlaps = false;
};

/// Enqueues the same kernels for a part of a matrix, none when it has no rows. Gives a cudaError_t.
int launch_rows(DType values, const DenseTypes& dense, const CsrArrays& arrays, const CsrHeader& header,
                const Launch& launch, void* stream) noexcept;

}  // namespace sptile::runtime::cuda
