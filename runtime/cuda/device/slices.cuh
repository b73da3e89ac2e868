// Grids of launches over heads and slices of the columns of dense operands.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/cuda/device/launch_shape.hpp"

namespace sptile::runtime::cuda {

inline constexpr std::int64_t kMaxSlicesInY = 65535;

/// Returns a grid of `blocks` blocks per slice and head. Heads and slices are the slow dimensions, so that
/// data shared by the blocks of a slice stays in the caches.
inline dim3 sliced_grid(std::int64_t blocks, std::int64_t slices, std::int64_t heads) {
  const std::int64_t y = std::min(slices, kMaxSlicesInY);
  return {static_cast<unsigned>(blocks), static_cast<unsigned>(y),
          static_cast<unsigned>((slices + y - 1) / y * heads)};
}

/// Returns the head of the block.
__device__ __forceinline__ int head_of_block(int slices) {
  const auto z = static_cast<int>(blockIdx.z);
  return slices <= kMaxSlicesInY ? z : z / static_cast<int>((slices + gridDim.y - 1) / gridDim.y);
}

/// Returns the slice of the block, which may be one past the last.
__device__ __forceinline__ int slice_of_block(int slices) {
  const auto y = static_cast<int>(blockIdx.y);
  if (slices <= kMaxSlicesInY) return y;
  return static_cast<int>(blockIdx.z % ((slices + gridDim.y - 1) / gridDim.y) * gridDim.y) + y;
}

}  // namespace sptile::runtime::cuda
