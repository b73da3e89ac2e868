// What a block of HyGNN's kernel is told, and what its threads share.
#pragma once

#include <cstdint>

#include "runtime/cuda/collective/vector.cuh"

namespace sptile::runtime::cuda {

inline constexpr int kHygnnRows = 16;      ///< of a window
inline constexpr int kHygnnFeatures = 16;  ///< of a warp
inline constexpr int kHygnnMostWarps = 8;  ///< of a block
inline constexpr int kHygnnEdges = 512;    ///< that wait in shared memory

/// Kernel parameter: plain device pointers and numbers.
struct HygnnTask {
  const std::int32_t* window_tile;   ///< windows + 1
  const std::uint32_t* tile_value;   ///< tiles + 1
  const std::uint32_t* masks;        ///< 4 per tile
  const std::int32_t* tile_columns;  ///< 8 per tile
  const void* tile_values;
  const std::int64_t* row_entry;  ///< rows + 1: entries that stand in rows
  const std::int32_t* row_columns;
  const void* row_values;
  const std::int32_t* row_order;  ///< null: as they stand
  std::int32_t rows;
  std::int32_t threads_per_row;  ///< 32, 16 or 8
  const float* b;
  std::int64_t ldb;
  float* c;
  std::int64_t ldc, n;
  float alpha, beta;

  /// Writes an element of C, if it is there.
  __device__ __forceinline__ void store(std::int32_t row, std::int64_t feature, float sum) const {
    if (row >= rows || feature >= n) return;
    const std::int32_t to = row_order == nullptr ? row : __ldg(row_order + row);
    float* const at = c + to * ldc + feature;
    *at = beta == 0 ? alpha * sum : alpha * sum + beta * *at;
  }
  /// An element of B; 0 behind the last column.
  __device__ __forceinline__ float dense(std::int32_t row, std::int64_t feature) const {
    return feature < n ? __ldg(b + row * ldb + feature) : 0;
  }
};

struct HygnnThread {
  int warps, warp, lane;
};

/// A tile and the rows of B of its columns, as WMMA has them: one behind the other in each feature.
struct HygnnTile {
  float a[kHygnnRows * 8];
  float x[kHygnnMostWarps][kHygnnFeatures][8];
};

struct HygnnEdges {
  std::int32_t column[kHygnnEdges];
  float value[kHygnnEdges];
};

union HygnnShared {
  HygnnTile tile;
  HygnnEdges edges;
};

}  // namespace sptile::runtime::cuda
