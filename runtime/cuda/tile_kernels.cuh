// The kernels around the skeleton.
#pragma once

#include <cstdint>

#include "runtime/cuda/short_rows.cuh"
#include "runtime/cuda/tile_warp.cuh"

namespace sptile::runtime::cuda {

inline constexpr int kTileThreads = 128;

/// Blocks first take tile items, pass after pass, then short rows.
template <class K>
__global__ void __launch_bounds__(kTileThreads, K::kBlocks)
    tile_product(const __grid_constant__ TileTask task, const __grid_constant__ ShortTask part) {
  constexpr int kWarps = kTileThreads / kWarp;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int warp = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / kWarp, 0);
  const int tile_blocks = task.blocks_per_pass * task.passes;
  const int block = static_cast<int>(blockIdx.x);
  if (block < tile_blocks) {
    const auto unit = static_cast<std::uint32_t>(block % task.blocks_per_pass * kWarps + warp);
    const auto together = static_cast<std::uint32_t>(task.slices_together);
    const std::uint32_t item_number = unit / together;
    const int slice = block / task.blocks_per_pass * task.slices_together + static_cast<int>(unit % together);
    if (item_number >= static_cast<std::uint32_t>(task.item_count) || slice >= task.slices) return;
    const TileItem item = task.items[item_number];
    TileWarp<K>(task, item, slice, lane).run();
  } else if constexpr (K::kHalves == 1) {
    const std::int64_t item_number = std::int64_t{block - tile_blocks} * kWarps + warp;
    if (item_number >= part.item_count) return;
    const ShortRows item = part.items[item_number];
    ShortRowsWarp<typename K::Value, typename K::Math, K::kVector>(task, part, item, lane).run();
  }
}

/// Adds the partial sums of split windows, in the order of the pieces.
template <class Dense, class Acc, int kHeight>
__global__ void __launch_bounds__(kTileThreads) tile_sum(const __grid_constant__ TileTask task) {
  const SplitWindow split = task.splits[blockIdx.x / kHeight];
  const int in_window = static_cast<int>(blockIdx.x) % kHeight;
  std::int64_t row =
      task.window_row == nullptr ? std::int64_t{split.window} * kHeight : task.window_row[split.window];
  row += in_window;
  if (row >= task.rows) return;
  if (task.row_order != nullptr) row = task.row_order[row];
  const Acc* from = static_cast<const Acc*>(task.partials) +
                    (std::int64_t{split.first_slot} * kHeight + in_window) * task.padded_n;
  Dense* const to = static_cast<Dense*>(task.c) + row * task.ldc;
  const std::int64_t next = kHeight * task.padded_n;
  for (std::int64_t f = threadIdx.x; f < task.n; f += blockDim.x) {
    Acc sum[1] = {Acc{0}};
#pragma unroll 4
    for (int p = 0; p < split.count; ++p) sum[0] += from[p * next + f];
    store_piece<false>(to + f, sum, scale_of<Acc>(task), 1);
  }
}

}  // namespace sptile::runtime::cuda
