// Store of C with the cache operator of Acc-SpMM (PPoPP 2025, table 1).
#pragma once

#include "runtime/cuda/collective/vector.cuh"
#include "runtime/cuda/families/tile/division.hpp"

namespace sptile::runtime::cuda {

/// Writes each row by one warp, through L2 to memory.
struct WriteThroughStore {
  template <bool kVector, int kElements>
  static __device__ __forceinline__ void write(const TileItem& /*item*/, float* to,
                                               const float (&sum)[kElements], const Scale<float>& scale,
                                               int left) {
    store_piece<kVector, Cache::write_through>(to, sum, scale, left);
  }
};

}  // namespace sptile::runtime::cuda
