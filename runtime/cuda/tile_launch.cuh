// The kernels around the skeleton and their launch. Each .cu that includes this makes the instances it lists.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "runtime/cuda/short_rows.cuh"
#include "runtime/cuda/tile_plan.hpp"
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
    const std::int64_t unit = std::int64_t{block % task.blocks_per_pass} * kWarps + warp;
    const std::int64_t item_number = unit / task.slices_together;
    const int slice =
        block / task.blocks_per_pass * task.slices_together + static_cast<int>(unit % task.slices_together);
    if (item_number >= task.item_count || slice >= task.slices) return;
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

/// True when rows of B and C can be read and written in pieces of so many bytes.
inline bool aligned(const Launch& launch, std::int64_t element_bytes, std::int64_t bytes) {
  const auto multiple = [&](std::int64_t elements) { return elements * element_bytes % bytes == 0; };
  return reinterpret_cast<std::uintptr_t>(launch.b) % static_cast<std::uintptr_t>(bytes) == 0 &&
         reinterpret_cast<std::uintptr_t>(launch.c) % static_cast<std::uintptr_t>(bytes) == 0 &&
         multiple(launch.ldb) && multiple(launch.ldc) && multiple(launch.n);
}

/// Starts the kernels of one instance.
template <class K>
int start_tiles(TileTask task, ShortTask part, const Launch& launch, cudaStream_t stream) {
  constexpr std::int64_t kWarps = kTileThreads / kWarp;
  const auto& numbers = launch.host->numbers;
  task.ldb_bytes = static_cast<std::uint64_t>(task.ldb) * sizeof(typename K::Dense);
  task.slices = static_cast<std::int32_t>((task.n + K::kFeatures - 1) / K::kFeatures);
  task.slices_together = std::min(task.slices, static_cast<std::int32_t>(numbers[kSlicesTogether]));
  task.passes = (task.slices + task.slices_together - 1) / task.slices_together;
  const std::int64_t per_pass = (std::int64_t{task.item_count} * task.slices_together + kWarps - 1) / kWarps;
  task.blocks_per_pass = static_cast<std::int32_t>(per_pass);
  task.padded_n = std::int64_t{task.slices} * K::kFeatures;
  const auto row_lanes = (task.n + K::kElements - 1) / K::kElements;
  part.lanes_per_row = 1;
  while (part.lanes_per_row < std::min<std::int64_t>(row_lanes, kWarp)) part.lanes_per_row *= 2;
  const std::int64_t blocks = per_pass * task.passes + (part.item_count + kWarps - 1) / kWarps;
  if (blocks > 0) tile_product<K><<<static_cast<unsigned>(blocks), kTileThreads, 0, stream>>>(task, part);
  const auto splits = static_cast<unsigned>(numbers[kSplitCount]);
  constexpr int kHeight = 8 * K::kHalves;
  if (splits > 0)
    tile_sum<typename K::Dense, typename K::Acc, kHeight>
        <<<splits * kHeight, kTileThreads, 0, stream>>>(task);
  return static_cast<int>(cudaGetLastError());
}

using TileStart = int (*)(TileTask, ShortTask, const Launch&, cudaStream_t);

/// Fills in what does not depend on the layout of the format.
inline TileTask common_task(const Launch& launch) {
  const auto& numbers = launch.host->numbers;
  TileTask task{};
  task.row_order = launch.row_order;
  task.items = reinterpret_cast<const TileItem*>(launch.schedule + numbers[kItemsAt]);
  task.item_count = static_cast<std::int32_t>(numbers[kItemCount]);
  task.splits = reinterpret_cast<const SplitWindow*>(launch.schedule + numbers[kSplitsAt]);
  task.rows = static_cast<std::int32_t>(launch.format.rows);
  task.b = launch.b;
  task.ldb = launch.ldb;
  task.c = launch.c;
  task.ldc = launch.ldc;
  task.n = launch.n;
  task.scale = {static_cast<float>(launch.alpha), static_cast<float>(launch.beta)};
  task.wide_scale = {launch.alpha, launch.beta};
  task.partials = launch.workspace;
  return task;
}

}  // namespace sptile::runtime::cuda
