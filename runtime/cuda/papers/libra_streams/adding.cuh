// Adding to rows of C that others add to at the same time.
#pragma once

#include "runtime/cuda/csr/body.cuh"
#include "runtime/cuda/papers/libra_streams/schedule.hpp"
#include "runtime/cuda/tile/direct.cuh"

namespace sptile::runtime::cuda {

/// Adds four numbers to aligned memory: one instruction from Hopper on.
__device__ __forceinline__ void add_four(float* to, const float (&x)[4], float alpha) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  atomicAdd(reinterpret_cast<float4*>(to),
            make_float4(alpha * x[0], alpha * x[1], alpha * x[2], alpha * x[3]));
#else
#pragma unroll
  for (int e = 0; e < 4; ++e) atomicAdd(to + e, alpha * x[e]);
#endif
}

/// Writes rows of items that are alone, adds those of the others.
struct AddingTileStore {
  template <bool kVector>
  static __device__ __forceinline__ void write(const TileItem& item, float* to, const float (&sum)[4],
                                               const Scale<float>& scale, int left) {
    if (item.slot != kAddedSlot) return store_piece<kVector>(to, sum, scale, left);
    if constexpr (kVector) {
      if (left > 0) add_four(to, sum, scale.alpha);
    } else {
#pragma unroll
      for (int e = 0; e < 4; ++e)
        if (e < left) atomicAdd(to + e, scale.alpha * sum[e]);
    }
  }
};

/// A tile kernel that adds.
template <class Direct>
struct AddingKernel : Direct {
  using Warp = TileDirect<AddingKernel>;
  using Store = AddingTileStore;
  static constexpr bool kShortRows = false;  // those of libra_spmm have offsets
};

/// The same for rows of the csr kernel.
struct AddingCsrStore {
  const std::uint8_t* atomic;  ///< of each row: 1 where others add to it

  template <class Columns>
  __device__ void operator()(std::int32_t number, const Columns& columns, float* row, const float (&sum)[4],
                             float alpha, float beta) const {
    if (atomic[number] == 0) return columns.store(row, sum, alpha, beta);
    if constexpr (Columns::kStep == 1) {
      if (columns.last >= 0) add_four(row, sum, alpha);
    } else {
#pragma unroll
      for (int e = 0; e < 4; ++e)
        if (e * Columns::kStep <= columns.last) atomicAdd(row + e * Columns::kStep, alpha * sum[e]);
    }
  }
};

}  // namespace sptile::runtime::cuda
