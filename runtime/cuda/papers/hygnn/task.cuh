// Parameters of the kernels of HyGNN, and the shared memory of a block.
#pragma once

#include <cstdint>

#include "runtime/cuda/collective/epilogue.cuh"
#include "runtime/cuda/collective/lanes.hpp"
#include "runtime/cuda/collective/vector.cuh"

namespace sptile::runtime::cuda {

inline constexpr int kHygnnRows = 16;      ///< per window
inline constexpr int kHygnnFeatures = 16;  ///< per warp
inline constexpr int kHygnnMinWarps = 4;   ///< per block: a thread for each element of a tile
inline constexpr int kHygnnMaxWarps = 8;   ///< per block
inline constexpr int kHygnnEdges = 512;    ///< entries staged in shared memory

/// Operands of the product A B: device pointers and numbers.
struct HygnnOperands {
  const std::int32_t* window_tile;   ///< windows + 1
  const std::uint32_t* tile_value;   ///< tiles + 1
  const std::uint32_t* masks;        ///< 4 per tile
  const std::int32_t* tile_columns;  ///< 8 per tile
  const void* tile_values;
  const std::int64_t* row_entry;  ///< rows + 1: nonzeros in rows
  const std::int32_t* row_columns;
  const void* row_values;
  std::int32_t rows;
  std::int32_t threads_per_row;  ///< 32, 16 or 8
  const float* b;
  std::int64_t ldb, n;

  /// Loads an element of B; 0 past the last column.
  __device__ __forceinline__ float dense(std::int32_t row, std::int64_t feature) const {
    return feature < n ? __ldg(b + row * ldb + feature) : 0;
  }
};

/// Parameters of SpMM.
struct HygnnTask {
  HygnnOperands operands;
  const std::int32_t* row_order;  ///< null: original order
  float* c;
  std::int64_t ldc;
  float alpha, beta;

  /// Stores an element of C, if it exists.
  __device__ __forceinline__ void store(std::int32_t row, std::int64_t feature, float sum) const {
    if (row >= operands.rows || feature >= operands.n) return;
    store_scaled(c + caller_row(row_order, row) * ldc + feature, sum, alpha, beta);
  }
};

struct HygnnThread {
  int warps, warp, lane;

  /// Returns the calling thread's position in the block.
  static __device__ __forceinline__ HygnnThread here() {
    return {static_cast<int>(blockDim.x) / kWarpSize, static_cast<int>(threadIdx.x) / kWarpSize,
            static_cast<int>(threadIdx.x) % kWarpSize};
  }
};

/// A tile and the rows of B of its columns in WMMA order: consecutive within each feature.
struct HygnnTile {
  float a[kHygnnRows * 8];
  float x[kHygnnMaxWarps][kHygnnFeatures][8];
};

struct HygnnEdges {
  std::int32_t column[kHygnnEdges];
  float value[kHygnnEdges];
};

union HygnnShared {
  HygnnTile tile;
  HygnnEdges edges;
};

/// Fused kernels have this dynamic shared memory: that of the product, then numbers. They have no static
/// shared memory, because launches grant a kernel the entire memory as dynamic one.
inline constexpr std::uint32_t kHygnnNumbersAt = sizeof(HygnnShared);
static_assert(kHygnnNumbersAt % 16 == 0);

}  // namespace sptile::runtime::cuda
