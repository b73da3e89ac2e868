// dW = alpha Z^T G, G = dC act'(C): a block sums the products of some rows for a tile of dW, and a second
// kernel adds the sums of the blocks of a tile, always in the same order.
#pragma once

#include "runtime/cuda/families/update/dense.cuh"

namespace sptile::runtime::cuda {

template <class DenseT, class MathT>
struct GradientTask {
  using Dense = DenseT;
  using Math = MathT;
  using Sum = typename Math::Sum;
  const Dense *z, *dc, *c;  ///< c null: no activation
  Dense* g;                 ///< null: not requested
  void *dw, *dbias;         ///< dbias null: not requested
  DType result;
  std::int64_t ldz, lddc, ldc, ldg, lddw;
  std::int64_t rows, n, m, parts, rows_per_part;
  int row_tiles, tiles;  ///< tiles of dW along its rows, and all tiles
  bool whole_z, whole_g;
  Sum* partials;
  double alpha;

  SPTILE_HOST_DEVICE Sum* tile_partials(std::int64_t part, std::int64_t tile) const {
    return partials + (part * tiles + tile) * (kGradientTile * kGradientTile);
  }
  SPTILE_HOST_DEVICE Sum* bias_partials(std::int64_t part) const {
    return tile_partials(parts, 0) + part * m;
  }
};

inline constexpr int kGradientThreads = 256;
/// Distance between rows of tiles in elements: k is the slow index of both fragments here.
inline constexpr int kGradientStride = kGradientTile + 8;

/// Rows of Z and G, and later column sums.
template <class Sum>
struct GradientShared {
  Sum z[kGradientRows][kGradientStride], g[kGradientRows][kGradientStride];
  Sum columns[4][kGradientTile];
};

/// Converts rows of dC in shared memory to rows of G, and writes them if requested.
template <class Task>
__device__ void derive(const Task& task, GradientShared<typename Task::Sum>& shared, std::int64_t row,
                       std::int64_t last, std::int64_t column, bool writes) {
  for (int i = static_cast<int>(threadIdx.x); i < kGradientRows * kGradientTile; i += kGradientThreads) {
    const int r = i / kGradientTile, j = i % kGradientTile;
    if (row + r >= last || column + j >= task.m) continue;
    auto& g = shared.g[r][j];
    if (task.c != nullptr && !(widen(task.c[(row + r) * task.ldc + column + j]) > 0)) g = 0;
    if (writes) task.g[(row + r) * task.ldg + column + j] = narrow<typename Task::Dense>(g);
  }
}

/// Adds Z^T G of a tile of rows.
template <class Math>
__device__ __forceinline__ void multiply_tile(UpdateSums<Math>& acc,
                                              const GradientShared<typename Math::Sum>& shared) {
  constexpr int kPerLane = Math::kStep / 4;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int g = lane / 4, t = lane % 4, row = warp / 2 * 16, column = warp % 2 * 32;
#pragma unroll 2
  for (int k = 0; k < kGradientRows; k += Math::kStep) {
    const typename Math::Factors f = Math::factors(&shared.z[k + t][row + g], 1, kGradientStride);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      typename Math::Sum b[kPerLane];
#pragma unroll
      for (int s = 0; s < kPerLane; ++s) b[s] = shared.g[k + t + 4 * s][column + 8 * j + g];
      Math::multiply(acc[j], f, Math::pack(b));
    }
  }
}

template <class Task, int kBlocks>
__global__ void __launch_bounds__(kGradientThreads, kBlocks)
    gradient_parts(const __grid_constant__ Task task) {
  using Math = typename Task::Math;
  using Sum = typename Task::Sum;
  follow_previous_kernel();
  auto& shared = *dynamic_shared_at<GradientShared<Sum>>(0);
  const auto tile = static_cast<int>(blockIdx.x % static_cast<unsigned>(task.tiles));
  const auto part = static_cast<std::int64_t>(blockIdx.x / static_cast<unsigned>(task.tiles));
  const std::int64_t i = std::int64_t{tile % task.row_tiles} * kGradientTile,
                     j = std::int64_t{tile / task.row_tiles} * kGradientTile;
  const std::int64_t first = part * task.rows_per_part, last = min(first + task.rows_per_part, task.rows);
  const bool is_first = i == 0;
  const int thread = static_cast<int>(threadIdx.x), column = thread % kGradientTile,
            quarter = thread / kGradientTile;
  UpdateSums<Math> acc = {};
  Sum of_column = 0;
  for (std::int64_t row = first; row < last; row += kGradientRows) {
    __syncthreads();
    stage_rows(&shared.z[0][0], kGradientStride, kGradientRows, kGradientTile, task.z + row * task.ldz + i,
               task.ldz, last - row, task.n - i, task.whole_z);
    stage_rows(&shared.g[0][0], kGradientStride, kGradientRows, kGradientTile, task.dc + row * task.lddc + j,
               task.lddc, last - row, task.m - j, task.whole_g);
    __syncthreads();
    if (task.c != nullptr || (is_first && task.g != nullptr)) {
      derive(task, shared, row, last, j, is_first && task.g != nullptr);
      __syncthreads();
    }
    multiply_tile<Math>(acc, shared);
    if (is_first && task.dbias != nullptr)
      for (int r = quarter * 8; r < quarter * 8 + 8; ++r) of_column += shared.g[r][column];
  }
  Sum* const to = task.tile_partials(part, tile);
  const int lane = thread % 32, warp = thread / 32;
#pragma unroll
  for (int x = 0; x < 4; ++x)
#pragma unroll
    for (int e = 0; e < 4; ++e)
      to[(warp / 2 * 16 + lane / 4 + e / 2 * 8) * kGradientTile + warp % 2 * 32 + 8 * x + lane % 4 * 2 +
         e % 2] = acc[x][e];
  if (!is_first || task.dbias == nullptr) return;
  shared.columns[quarter][column] = of_column;
  __syncthreads();
  if (quarter != 0 || j + column >= task.m) return;
  for (int q = 1; q < 4; ++q) of_column += shared.columns[q][column];
  task.bias_partials(part)[j + column] = of_column;
}

/// Writes a number of a result.
template <class Sum>
__device__ __forceinline__ void write_number(void* to, DType type, std::int64_t at, Sum x) {
  if constexpr (std::is_same_v<Sum, double>) {
    static_cast<double*>(to)[at] = x;
  } else {
    if (type == DType::f32) static_cast<float*>(to)[at] = x;
    if (type == DType::f16) static_cast<Half*>(to)[at] = narrow<Half>(x);
    if (type == DType::bf16) static_cast<BFloat16*>(to)[at] = narrow<BFloat16>(x);
  }
}

/// Adds the sums of the parts: a block processes 32 adjacent numbers, and its warps the parts in turns. The
/// last blocks add dbias.
template <class Task>
__global__ void __launch_bounds__(kGradientThreads) add_parts(const __grid_constant__ Task task) {
  using Sum = typename Task::Sum;
  constexpr int kWarps = kGradientThreads / 32, kNumbers = kGradientTile * kGradientTile;
  follow_previous_kernel();
  auto* const shared = dynamic_shared_at<Sum>(0);
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t number = std::int64_t{blockIdx.x} * 32 + lane, tile = number / kNumbers;
  const bool is_bias = tile >= task.tiles;
  const std::int64_t at = is_bias ? number - std::int64_t{task.tiles} * kNumbers : number % kNumbers;
  const bool there = !is_bias || at < task.m;
  Sum sum = 0;
#pragma unroll 4
  for (std::int64_t part = warp; part < task.parts; part += kWarps)
    if (there) sum += __ldcg((is_bias ? task.bias_partials(part) : task.tile_partials(part, tile)) + at);
  shared[warp * 32 + lane] = sum;
  __syncthreads();
  if (warp != 0 || !there) return;
  for (int w = 1; w < kWarps; ++w) sum += shared[w * 32 + lane];
  if (is_bias) return write_number(task.dbias, task.result, at, sum);
  const std::int64_t row = tile % task.row_tiles * kGradientTile + at / kGradientTile,
                     column = tile / task.row_tiles * kGradientTile + at % kGradientTile;
  if (row < task.n && column < task.m)
    write_number(task.dw, task.result, row * task.lddw + column, static_cast<Sum>(task.alpha) * sum);
}

}  // namespace sptile::runtime::cuda
