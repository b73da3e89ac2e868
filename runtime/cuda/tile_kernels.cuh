// The kernels around the skeleton.
#pragma once

#include <cstdint>

#include "runtime/cuda/short_rows.cuh"
#include "runtime/cuda/start_kernel.cuh"
#include "runtime/cuda/tile_direct.cuh"
#include "runtime/cuda/tile_staged.cuh"

namespace sptile::runtime::cuda {

inline constexpr int kMaxTileThreads = 256;  ///< of a block; how many it has, the schedule says

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
  if (task.overlapped) {
    await_previous_kernel();
    admit_next_kernel();
  } else {
    follow_previous_kernel();
  }
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

}  // namespace sptile::runtime::cuda
