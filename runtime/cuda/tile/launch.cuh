// Launches of the tile kernels. Each .cu that includes this makes the instances it lists.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "runtime/cuda/device/start_kernel.cuh"
#include "runtime/cuda/tile/kernels.cuh"
#include "runtime/cuda/tile/schedule.hpp"
#include "runtime/cuda/device/whole_pieces.hpp"

namespace sptile::runtime::cuda {

/// True when rows of B and C can be read and written in pieces of so many bytes.
inline bool aligned(const Launch& launch, std::int64_t element_bytes, std::int64_t bytes) {
  return whole_pieces(launch.b, launch.ldb, launch.n, element_bytes, bytes) &&
         whole_pieces(launch.c, launch.ldc, launch.n, element_bytes, bytes);
}

/// Percent of a multiprocessor's memory that kWarpsPerSm warps need; a block itself takes 1 KiB.
template <class K>
int carveout(const DeviceInfo& device, std::int64_t warps_per_block, std::int64_t bytes_of_warp) {
  const std::int64_t bytes = K::kWarpsPerSm * (bytes_of_warp + 1024 / warps_per_block);
  const auto all = static_cast<std::int64_t>(device.shared_per_block + 1024);
  return static_cast<int>(std::min<std::int64_t>((100 * bytes + all - 1) / all, 100));
}

/// Starts the kernels of one instance.
template <class K>
int start_tiles(TileTask task, ShortTask part, const Launch& launch, cudaStream_t stream) {
  const auto& numbers = launch.host->numbers;
  const std::int64_t warps = numbers[kWarpsPerBlock];
  task.ldb_bytes = static_cast<std::uint64_t>(task.ldb) * sizeof(typename K::Dense);
  task.slices = static_cast<std::int32_t>((task.n + K::kFeatures - 1) / K::kFeatures);
  task.slices_together = std::min(task.slices, static_cast<std::int32_t>(numbers[kSlicesTogether]));
  task.passes = (task.slices + task.slices_together - 1) / task.slices_together;
  const std::int64_t alone = task.item_count - task.teams * warps;
  const std::int64_t per_pass =
      std::int64_t{task.teams} * task.slices_together + (alone * task.slices_together + warps - 1) / warps;
  task.shared_bytes =
      static_cast<std::uint32_t>(task.teams > 0 ? std::max(K::kSharedBytes, K::kSumBytes) : K::kSharedBytes);
  task.blocks_per_pass = static_cast<std::int32_t>(per_pass);
  task.padded_n = std::int64_t{task.slices} * K::kFeatures;
  const auto row_lanes = (task.n + K::kElements - 1) / K::kElements;
  part.lanes_per_row = 1;
  while (part.lanes_per_row < std::min<std::int64_t>(row_lanes, kWarp)) part.lanes_per_row *= 2;
  const std::int64_t blocks = per_pass * task.passes + (part.item_count + warps - 1) / warps;
  if (blocks == 0) return cudaSuccess;
  return start_kernel<tile_product<K>>({.blocks = dim3(static_cast<unsigned>(blocks)),
                                        .threads = static_cast<unsigned>(warps * kWarp),
                                        .shared_bytes = static_cast<std::size_t>(warps) * task.shared_bytes,
                                        .carveout = carveout<K>(*launch.device, warps, task.shared_bytes)},
                                       *launch.device, stream, task, part);
}

using TileStart = int (*)(TileTask, ShortTask, const Launch&, cudaStream_t);

/// Fills in what does not depend on the layout of the format.
inline TileTask common_task(const Launch& launch) {
  const auto& numbers = launch.host->numbers;
  TileTask task{};
  task.row_order = launch.row_order;
  task.items = reinterpret_cast<const TileItem*>(launch.schedule + numbers[kItemsAt]);
  task.item_count = static_cast<std::int32_t>(numbers[kItemCount]);
  task.teams = static_cast<std::int32_t>(numbers[kTeams]);
  task.splits = reinterpret_cast<const SplitWindow*>(launch.schedule + numbers[kSplitsAt]);
  task.rows = static_cast<std::int32_t>(launch.format.rows);
  task.b = launch.b;
  task.ldb = launch.ldb;
  task.c = launch.c;
  task.ldc = launch.ldc;
  task.n = launch.n;
  task.scale = {static_cast<float>(launch.alpha), static_cast<float>(launch.beta)};
  task.wide_scale = {launch.alpha, launch.beta};
  task.arrived = reinterpret_cast<unsigned*>(launch.workspace);
  task.overlapped = launch.overlaps;
  task.partials = launch.workspace + numbers[kPartialsAt];
  return task;
}

}  // namespace sptile::runtime::cuda
