// Launches of the tile kernels. Each .cu that includes this makes the instances it lists.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "runtime/cuda/start_kernel.cuh"
#include "runtime/cuda/tile_kernels.cuh"
#include "runtime/cuda/tile_plan.hpp"

namespace sptile::runtime::cuda {

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
  int error = 0;
  if (blocks > 0)
    error = start_kernel(tile_product<K>, static_cast<unsigned>(blocks), kTileThreads, stream, task, part);
  const auto splits = static_cast<unsigned>(numbers[kSplitCount]);
  constexpr int kHeight = 8 * K::kHalves;
  if (splits > 0 && error == 0)
    error = start_kernel(tile_sum<typename K::Dense, typename K::Acc, kHeight>, splits * kHeight,
                         kTileThreads, stream, task);
  return error;
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
