// Atomic additions to rows of C.
#pragma once

#include "runtime/cuda/collective/csr_rows.cuh"
#include "runtime/cuda/families/tile/direct.cuh"
#include "runtime/cuda/papers/libra_streams/schedule.hpp"

namespace sptile::runtime::cuda {

/// f16 in blocks of 16 columns by m16n8k16, with sums in f32 (section 4.4.2).
template <int kElementsT>
struct MathBlock : MathHalf<Half, kElementsT, float> {
  using Base = MathHalf<Half, kElementsT, float>;

  /// Multiplies the two tiles of a block; tile column k of the right one is k + 8 of the MMA.
  template <class Entries>
  static __device__ __forceinline__ void multiply_block(typename Base::Sums& sum,
                                                        const typename Base::Fragment (&f)[2],
                                                        const Entries& left, const Entries& right) {
    const std::uint32_t sparse[2] = {left.pair, right.pair};
#pragma unroll
    for (int j = 0; j < kElementsT / 2; ++j) {
      const std::uint32_t dense[4] = {f[0].low[j], f[0].high[j], f[1].low[j], f[1].high[j]};
      mma_half_k16(sum[j], dense, sparse);
    }
  }
};

/// Adds a multiple of four numbers to aligned memory: one instruction per four numbers from Hopper on.
template <int kElements>
__device__ __forceinline__ void add_fours(float* to, const float (&x)[kElements], float alpha) {
  static_assert(kElements % 4 == 0);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#pragma unroll
  for (int e = 0; e < kElements; e += 4)
    atomicAdd(reinterpret_cast<float4*>(to + e),
              make_float4(alpha * x[e], alpha * x[e + 1], alpha * x[e + 2], alpha * x[e + 3]));
#else
#pragma unroll
  for (int e = 0; e < kElements; ++e) atomicAdd(to + e, alpha * x[e]);
#endif
}

/// Writes rows of exclusive items, and adds those of the others.
struct AddingTileStore {
  template <bool kVector, int kElements>
  static __device__ __forceinline__ void write(const TileItem& item, float* to, const float (&sum)[kElements],
                                               const Scale<float>& scale, int left) {
    if (item.slot != kAddedSlot) return store_piece<kVector>(to, sum, scale, left);
    if constexpr (kVector) {
      if (left > 0) add_fours(to, sum, scale.alpha);
    } else {
#pragma unroll
      for (int e = 0; e < kElements; ++e)
        if (e < left) atomicAdd(to + e, scale.alpha * sum[e]);
    }
  }
};

/// A tile kernel of the skeleton `WarpT` that adds.
template <class Kernel, template <class> class WarpT = TileDirect>
struct AddingKernel : Kernel {
  using Warp = WarpT<AddingKernel>;
  using Store = AddingTileStore;
  static constexpr bool kShortRows = false;  // those of libra_spmm have offsets
  static constexpr bool kPieces = false;     // segments of a window add to C instead
};

/// A tile kernel that adds and multiplies two tiles at once. Two blocks of 16 columns are in flight.
template <class Direct>
struct AddingBlockKernel : AddingKernel<Direct> {
  using Warp = TileDirect<AddingBlockKernel>;
  static constexpr int kBlockTiles = 2;
  static constexpr int kDepth = 2 * kBlockTiles;
};

/// Writes alpha * sum + beta * C, or adds alpha * sum by atomic operations.
template <class Columns, int kElements>
__device__ __forceinline__ void write_segment(const Columns& columns, float* row,
                                              const float (&sum)[kElements], float alpha, float beta,
                                              bool atomic) {
  if (!atomic) return columns.store(row, sum, alpha, beta);
  if constexpr (Columns::kStep == 1) {
    if (columns.last >= 0) add_fours(row, sum, alpha);
  } else {
#pragma unroll
    for (int e = 0; e < kElements; ++e)
      if (e * Columns::kStep <= columns.last) atomicAdd(row + e * Columns::kStep, alpha * sum[e]);
  }
}

/// Writes or adds rows of the csr kernel.
struct AddingCsrStore {
  static constexpr bool kPieces = false;
  const std::uint8_t* atomic;  ///< per residual segment: 1 if others add to its row

  template <class Columns, int kElements>
  __device__ void operator()(std::int32_t number, const Columns& columns, float* row,
                             const float (&sum)[kElements], float alpha, float beta) const {
    write_segment(columns, row, sum, alpha, beta, atomic[number] != 0);
  }
};

}  // namespace sptile::runtime::cuda
