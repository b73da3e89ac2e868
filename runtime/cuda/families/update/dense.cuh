// C = act(alpha Z W + bias) for a given Z: tiles of 64 rows, each read once. W stays in shared memory if it
// fits; otherwise its slices are loaded for each tile.
#pragma once

#include "runtime/cuda/collective/vector.cuh"
#include "runtime/cuda/device/qualifiers.hpp"
#include "runtime/cuda/families/update/math.cuh"

namespace sptile::runtime::cuda {

/// Rows and columns of C that a block computes at a time; columns of Z in shared memory.
inline constexpr int kDenseRows = 64, kDenseColumns = 64, kDenseSlice = DenseUpdatePolicy{}.slice,
                     kDenseThreads = 256;

template <class DenseT, class MathT>
struct DenseTask {
  using Dense = DenseT;
  using Math = MathT;
  const Dense* z;
  std::int64_t ldz, rows, n;
  bool whole;  ///< rows of Z can be loaded in units of 16 bytes
  bool fours;  ///< or in units of four numbers
  WeightSource weights;
  UpdateResult result;
  std::int64_t tiles;
  int slices, columns;  ///< slices of n, and groups of kDenseColumns of m
  bool resident;        ///< all weights stay in shared memory
};

/// Returns the columns of a slice, a multiple of the MMA step.
SPTILE_HOST_DEVICE int slice_columns(std::int64_t n) {
  return n >= kDenseSlice ? kDenseSlice : static_cast<int>((n + 7) / 8 * 8);
}

/// Returns the distance between rows of a tile in elements.
SPTILE_HOST_DEVICE int tile_stride(int columns) { return columns + 4; }

/// Copies part of some rows to shared memory in the accumulator type, with zeros beyond the ends. Called by
/// all threads of the block.
template <class Dense, class Sum>
__device__ void stage_rows(Sum* to, int stride, int rows, int columns, const Dense* from, std::int64_t ld,
                           std::int64_t rows_left, std::int64_t columns_left, bool whole) {
  constexpr int kVector = 16 / static_cast<int>(sizeof(Dense));
  const int pieces = columns / kVector + (columns % kVector != 0 ? 1 : 0);
#pragma unroll 4
  for (int i = static_cast<int>(threadIdx.x); i < rows * pieces; i += static_cast<int>(blockDim.x)) {
    const int row = i / pieces, column = i % pieces * kVector;
    Sum* const target = to + row * stride + column;
    const Dense* const source = from + row * ld + column;
    if (whole && row < rows_left && column < columns_left) {
      const auto vec = load_vector<Vec<Dense, kVector>, Cache::streaming>(source);
#pragma unroll
      for (int e = 0; e < kVector; ++e)
        if (column + e < columns) target[e] = widen(vec.e[e]);
    } else {
#pragma unroll
      for (int e = 0; e < kVector; ++e)
        if (column + e < columns)
          target[e] = row < rows_left && column + e < columns_left ? widen(source[e]) : Sum(0);
    }
  }
}

/// Each warp computes 16 rows of 32 columns.
template <class Task, int kBlocks>
__global__ void __launch_bounds__(kDenseThreads, kBlocks) dense_update(const __grid_constant__ Task task) {
  using Math = typename Task::Math;
  using Weights = typename Math::Weights;
  using Sum = typename Math::Sum;
  constexpr int kGroups = kDenseColumns / kColumnGroup;
  follow_previous_kernel();
  const int width = slice_columns(task.n), steps = width / Math::kStep, stride = tile_stride(width);
  const int part = steps * kGroups * 128;  // weights of a slice and some columns
  auto* const weights = dynamic_shared_at<Weights>(0);
  auto* const rows = reinterpret_cast<Sum*>(weights + part * (task.resident ? task.columns : 1));
  if (task.resident)
    for (int c = 0; c < task.columns; ++c)
      stage_weights<typename Task::Dense, Math>(weights + c * part, task.weights, 0, steps, c * kDenseColumns,
                                                kGroups);
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int row = warp / kGroups * kWindowRows, group = warp % kGroups;
  for (std::int64_t tile = blockIdx.x; tile < task.tiles; tile += gridDim.x) {
    const std::int64_t first_row = tile * kDenseRows;
    for (int c = 0; c < task.columns; ++c) {
      const std::int64_t first_column = std::int64_t{c} * kDenseColumns;
      UpdateSums<Math> acc = {};
      for (int s = 0; s < task.slices; ++s) {
        const std::int64_t k = std::int64_t{s} * kDenseSlice;
        const bool new_rows = c == 0 || task.slices > 1;
        if (new_rows || !task.resident) {
          __syncthreads();
          if (new_rows)
            stage_rows(rows, stride, kDenseRows, width, task.z + first_row * task.ldz + k, task.ldz,
                       task.rows - first_row, task.n - k, task.whole);
          if (!task.resident)
            stage_weights<typename Task::Dense, Math>(weights, task.weights, k, steps, first_column, kGroups);
          __syncthreads();
        }
        multiply_rows<Math>(acc, rows + row * stride, stride,
                            weights + (task.resident ? c * part : 0) + group * 128, kGroups * 128, steps);
      }
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const std::int64_t to = first_row + row + 8 * h + lane / 4;
        if (to < task.rows) write_row<Math>(task.result, acc, h, to, first_column + group * kColumnGroup);
      }
    }
  }
}

}  // namespace sptile::runtime::cuda
