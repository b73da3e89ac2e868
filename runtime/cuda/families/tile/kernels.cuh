// The tile kernel around the skeletons.
#pragma once

#include <cstdint>

#include "runtime/cuda/collective/block.cuh"
#include "runtime/cuda/device/start_kernel.cuh"
#include "runtime/cuda/families/tile/direct.cuh"
#include "runtime/cuda/families/tile/short_rows.cuh"
#include "runtime/cuda/families/tile/staged.cuh"

namespace sptile::runtime::cuda {

/// Maximum number of threads per block; the schedule has the number.
inline constexpr int kMaxTileThreads = TilePolicy{}.max_threads;

/// Work of a warp: an item and a slice of the columns.
struct TileWork {
  std::uint32_t item;
  int slice;
};

/// Returns the work of a warp. The first blocks of a pass have the items of one team each.
__device__ __forceinline__ TileWork tile_work(const TileTask& task, int block, int warps, int warp) {
  const auto together = static_cast<std::uint32_t>(task.slices_together);
  const int first_slice = block / task.blocks_per_pass * task.slices_together;
  const auto place = static_cast<std::uint32_t>(block % task.blocks_per_pass);
  const auto teams = static_cast<std::uint32_t>(task.teams);
  if (place < teams * together)
    return {place / together * warps + warp, first_slice + static_cast<int>(place % together)};
  const std::uint32_t unit = (place - teams * together) * warps + warp;
  return {teams * warps + unit / together, first_slice + static_cast<int>(unit % together)};
}

/// Position of a thread in its block.
struct TileThread {
  int warps, warp, lane;
};

__device__ __forceinline__ TileThread tile_thread() {
  return {static_cast<int>(blockDim.x) / kWarpSize,
          __shfl_sync(~0u, static_cast<int>(threadIdx.x) / kWarpSize, 0),
          static_cast<int>(threadIdx.x) % kWarpSize};
}

/// Runs a warp of a block of tile items.
template <class K>
__device__ __forceinline__ void multiply_item(const TileTask& task, int block, const TileThread& thread) {
  const TileWork work = tile_work(task, block, thread.warps, thread.warp);
  if (work.item >= static_cast<std::uint32_t>(task.item_count) || work.slice >= task.slices) return;
  const TileItem item = task.items[work.item];
  const std::uint32_t shared = dynamic_shared() + thread.warp * task.shared_bytes;
  typename K::Warp(task, item, work.slice, thread.lane, shared).run();
}

/// The first blocks have tile items, pass by pass, the others short rows. Items, ends of windows, columns and
/// masks are read while the previous kernel may still run.
template <class K>
__global__ void __launch_bounds__(kMaxTileThreads) __maxnreg__(K::kRegisters)
    tile_product(const __grid_constant__ TileTask task, const __grid_constant__ ShortTask part) {
  if (task.overlapped) await_previous_kernel();
  admit_next_kernel();
  const TileThread thread = tile_thread();
  const int tile_blocks = task.blocks_per_pass * task.passes;
  const int block = static_cast<int>(blockIdx.x);
  if (block < tile_blocks) {
    multiply_item<K>(task, block, thread);
  } else if constexpr (K::kShortRows) {
    await_previous_kernel();
    const std::int64_t item_number = std::int64_t{block - tile_blocks} * thread.warps + thread.warp;
    if (item_number >= part.item_count) return;
    const ShortRows item = part.items[item_number];
    ShortRowsWarp<typename K::Value, typename K::Math, K::kVector>(task, part, item, thread.lane).run();
  }
}

}  // namespace sptile::runtime::cuda
