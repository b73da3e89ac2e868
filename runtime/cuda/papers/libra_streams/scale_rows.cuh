// Scales rows of C by beta before atomic additions.
#pragma once

#include <cstdint>

#include "runtime/cuda/device/start_kernel.cuh"

namespace sptile::runtime::cuda {

inline constexpr int kScaleThreads = 128;

/// One warp per row.
template <class Dense>
struct ScaleTask {
  const std::int32_t* rows;
  const std::int32_t* row_order;  ///< new_to_old; null: original order
  std::int64_t row_count;
  Dense* c;
  std::int64_t ldc, n;
  Dense beta;
};

template <class Dense>
__global__ void __launch_bounds__(kScaleThreads)
    scale_rows_kernel(const __grid_constant__ ScaleTask<Dense> task) {
  constexpr int kWarpThreads = 32;
  follow_previous_kernel();
  const std::int64_t thread = std::int64_t{blockIdx.x} * kScaleThreads + threadIdx.x;
  const std::int64_t place = thread / kWarpThreads;
  if (place >= task.row_count) return;
  std::int32_t row = task.rows[place];
  if (task.row_order != nullptr) row = task.row_order[row];
  Dense* const c = task.c + row * task.ldc;
  for (std::int64_t j = thread % kWarpThreads; j < task.n; j += kWarpThreads)
    c[j] = task.beta == Dense(0) ? Dense(0) : task.beta * c[j];
}

/// Enqueues the kernel for a list of rows in device memory. Returns a cudaError_t.
template <class Dense>
int scale_rows(const std::int32_t* rows, std::int64_t count, const Launch& launch, cudaStream_t stream) {
  if (count == 0 || launch.operands.beta == 1) return cudaSuccess;
  const Operand& c = launch.operands.dense[kSpmmC];
  const ScaleTask<Dense> task{rows,
                              launch.row_order,
                              count,
                              static_cast<Dense*>(c.data),
                              c.ld,
                              launch.n,
                              static_cast<Dense>(launch.operands.beta)};
  constexpr std::int64_t kRows = kScaleThreads / 32;
  return start_kernel<scale_rows_kernel<Dense>>(
      {.blocks = dim3(static_cast<unsigned>((count + kRows - 1) / kRows)), .threads = kScaleThreads},
      *launch.device, stream, task);
}

}  // namespace sptile::runtime::cuda
