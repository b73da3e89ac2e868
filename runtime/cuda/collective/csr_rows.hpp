// The csr kernel as a part of other kernels: rows next to tiles, and rows before an update. families/csr
// defines it.
#pragma once

#include <cstdint>
#include <string_view>

#include "runtime/cuda/collective/csr_schedule.hpp"
#include "runtime/cuda/device_kernel.hpp"

namespace sptile::runtime::cuda {

inline constexpr std::string_view kCsrRows = "cuda.csr.rows";

/// Rows of entries in device memory, divided by append_csr.
struct CsrArrays {
  const std::int64_t* row_ptr;
  const std::int32_t* columns;
  const void* values;                     ///< null: all values are 1
  const std::int32_t* row_ids = nullptr;  ///< ids of the rows; ~id: the result is added to C; null: 0, 1, ...
  /// The previous kernel writes rows that this one adds to, and allows its early launch: see csr_spmm.
  bool overlaps = false;
};

/// Enqueues the kernel for a part of a matrix; nothing if it has no rows. Returns a cudaError_t.
int launch_rows(DType values, const DenseTypes& dense, const CsrArrays& arrays, const CsrHeader& header,
                const Launch& launch, void* stream) noexcept;

}  // namespace sptile::runtime::cuda
