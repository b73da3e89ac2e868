// Blocks of a launch that does the same for each head, and for slices of the columns of dense operands.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/cuda/device/launch_shape.hpp"

namespace sptile::runtime::cuda {

inline constexpr std::int64_t kMostSlicesInY = 65535;

/// So many blocks for each slice of each head. Heads and slices are the slow dimensions of the grid, so that
/// what the blocks of one slice share stays in the caches.
inline dim3 sliced_grid(std::int64_t blocks, std::int64_t slices, std::int64_t heads) {
  const std::int64_t y = std::min(slices, kMostSlicesInY);
  return {static_cast<unsigned>(blocks), static_cast<unsigned>(y),
          static_cast<unsigned>((slices + y - 1) / y * heads)};
}

/// The head of the block.
__device__ __forceinline__ int head_of_block(int slices) {
  const auto z = static_cast<int>(blockIdx.z);
  return slices <= kMostSlicesInY ? z : z / static_cast<int>((slices + gridDim.y - 1) / gridDim.y);
}

/// The slice of the block, which may be one past the last.
__device__ __forceinline__ int slice_of_block(int slices) {
  const auto y = static_cast<int>(blockIdx.y);
  if (slices <= kMostSlicesInY) return y;
  return static_cast<int>(blockIdx.z % ((slices + gridDim.y - 1) / gridDim.y) * gridDim.y) + y;
}

}  // namespace sptile::runtime::cuda
