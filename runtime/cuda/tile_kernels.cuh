// The kernels around the skeleton.
#pragma once

#include <cstdint>

#include "runtime/cuda/short_rows.cuh"
#include "runtime/cuda/start_kernel.cuh"
#include "runtime/cuda/tile_direct.cuh"
#include "runtime/cuda/tile_staged.cuh"

namespace sptile::runtime::cuda {

inline constexpr int kMaxTileThreads = 256;  ///< of a block; how many it has, the schedule says
inline constexpr int kSumThreads = 128;

/// The warp's part of shared memory.
template <class K>
__device__ __forceinline__ std::uint32_t shared_of_warp(int warp) {
  if constexpr (K::kSharedBytes == 0) return 0;
  return dynamic_shared() + static_cast<std::uint32_t>(warp * K::kSharedBytes);
}

/// Blocks first take tile items, pass after pass, then short rows.
template <class K>
__global__ void __launch_bounds__(kMaxTileThreads) __maxnreg__(K::kRegisters)
    tile_product(const __grid_constant__ TileTask task, const __grid_constant__ ShortTask part) {
  follow_previous_kernel();
  const int warps = static_cast<int>(blockDim.x) / kWarp;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int warp = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / kWarp, 0);
  const int tile_blocks = task.blocks_per_pass * task.passes;
  const int block = static_cast<int>(blockIdx.x);
  if (block < tile_blocks) {
    const auto unit = static_cast<std::uint32_t>(block % task.blocks_per_pass * warps + warp);
    const auto together = static_cast<std::uint32_t>(task.slices_together);
    const std::uint32_t item_number = unit / together;
    const int slice = block / task.blocks_per_pass * task.slices_together + static_cast<int>(unit % together);
    if (item_number >= static_cast<std::uint32_t>(task.item_count) || slice >= task.slices) return;
    const TileItem item = task.items[item_number];
    typename K::Warp(task, item, slice, lane, shared_of_warp<K>(warp)).run();
  } else if constexpr (K::kHalves == 1) {
    const std::int64_t item_number = std::int64_t{block - tile_blocks} * warps + warp;
    if (item_number >= part.item_count) return;
    const ShortRows item = part.items[item_number];
    ShortRowsWarp<typename K::Value, typename K::Math, K::kVector>(task, part, item, lane).run();
  }
}

/// Adds the partial sums of split windows. A block has one row; in each warp 8 lanes have 16 bytes of it
/// each, and four such groups share the pieces. The order of additions depends on nothing but the number of
/// pieces.
template <class Dense, class Acc, int kHeight>
__global__ void __launch_bounds__(kSumThreads) tile_sum(const __grid_constant__ TileTask task) {
  constexpr int kElements = 16 / sizeof(Acc), kGroups = 4;
  follow_previous_kernel();
  const SplitWindow split = task.splits[blockIdx.x / kHeight];
  const int in_window = static_cast<int>(blockIdx.x) % kHeight, lane = static_cast<int>(threadIdx.x) % kWarp;
  std::int64_t row =
      task.window_row == nullptr ? std::int64_t{split.window} * kHeight : task.window_row[split.window];
  row += in_window;
  if (row >= task.rows) return;
  if (task.row_order != nullptr) row = task.row_order[row];
  const Acc* const partials = static_cast<const Acc*>(task.partials) +
                              (std::int64_t{split.first_slot} * kHeight + in_window) * task.padded_n;
  const std::int64_t next = kHeight * task.padded_n;
  for (std::int64_t first = threadIdx.x / kWarp * (8 * kElements); first < task.n;
       first += kSumThreads / kWarp * (8 * kElements)) {
    const std::int64_t feature = first + lane % 8 * kElements;
    Acc sum[kElements] = {};
#pragma unroll 4
    for (int p = lane / 8; p < split.count; p += kGroups) {
      const auto piece = *reinterpret_cast<const RowPiece<Acc, kElements>*>(partials + p * next + feature);
#pragma unroll
      for (int e = 0; e < kElements; ++e) sum[e] += piece.e[e];
    }
#pragma unroll
    for (int apart = 8; apart < kWarp; apart *= 2)
#pragma unroll
      for (int e = 0; e < kElements; ++e) sum[e] += __shfl_sync(~0u, sum[e], lane ^ apart);
    if (lane < 8)
      store_piece<false>(static_cast<Dense*>(task.c) + row * task.ldc + feature, sum, scale_of<Acc>(task),
                         static_cast<int>(min(task.n - feature, std::int64_t{kElements})));
  }
}

}  // namespace sptile::runtime::cuda
