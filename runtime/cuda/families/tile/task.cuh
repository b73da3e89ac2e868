// Parameters of the tile kernels.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/cuda/collective/tile_masks.cuh"
#include "runtime/cuda/collective/vector.cuh"
#include "runtime/cuda/families/tile/division.hpp"

namespace sptile::runtime::cuda {

/// Kernel parameters: device pointers and numbers.
struct TileTask {
  TileArrays arrays;
  const std::int32_t* window_tile;  ///< windows + 1
  const std::int32_t* window_row;   ///< first row of each window; null: window * height
  const std::int32_t* row_order;    ///< null: original order
  const TileItem* items;
  std::int32_t item_count;
  std::int32_t teams;            ///< blocks per pass and slice whose warps share a segment of a window
  std::uint32_t shared_bytes;    ///< per warp
  std::int32_t slices;           ///< slices of the columns of B
  std::int32_t slices_together;  ///< slices of an item per pass
  std::int32_t passes, blocks_per_pass;
  std::int32_t rows;
  const void* b;
  std::int64_t ldb;
  std::uint64_t ldb_bytes;
  void* c;
  std::int64_t ldc;
  std::int64_t n;
  Scale<float> scale;
  Scale<double> wide_scale;
  void* partials;         ///< slots x window height x padded_n
  std::int64_t padded_n;  ///< slices * features per warp
  const SplitWindow* splits;
  unsigned* arrived;  ///< counters x slices
  /// The next kernel is csr_spmm with `overlaps`. It reads the same operands before this kernel has ended, so
  /// it may start only after all earlier kernels have ended.
  bool overlapped;
};

template <class Acc>
__device__ __forceinline__ const Scale<Acc>& scale_of(const TileTask& task) {
  if constexpr (std::is_same_v<Acc, double>)
    return task.wide_scale;
  else
    return task.scale;
}

}  // namespace sptile::runtime::cuda
