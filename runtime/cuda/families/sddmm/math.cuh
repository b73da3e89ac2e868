// Dot products on tensor cores: 16 rows of Y times 8 rows of X, a piece of each row at a time.
//
// Rows of Y are the first operand of mma.m16n8k8, rows of X the second, and features are k. A lane loads 16
// consecutive bytes of its rows. The assignment of features to k does not matter, because both operands are
// loaded in the same way (FlashSparse, PPoPP 2025, section 3.3, permutes B similarly).
#pragma once

#include <cstdint>

#include "runtime/cuda/collective/mma.cuh"

namespace sptile::runtime::cuda {

/// f32 operands; kSplit: products of f32 accuracy from the two halves of each factor.
template <bool kSplit>
struct DotF32 : MathF32<kSplit> {
  using Chunk = typename MathF32<kSplit>::Chunk;
  /// Non-finite sums may belong to finite products, or be NaN instead of infinity.
  static constexpr bool kDoubtsNonfinite = kSplit;

  /// Adds products to sums (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1). y0 and y1 belong to rows g and
  /// g + 8.
  static __device__ __forceinline__ void multiply(float (&sum)[4], const Chunk& y0, const Chunk& y1,
                                                  const Chunk& x) {
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      mma(sum, tf32_operand<kSplit>({y0.e[2 * j], y1.e[2 * j], y0.e[2 * j + 1], y1.e[2 * j + 1]}),
          tf32_operand<kSplit>({x.e[2 * j], x.e[2 * j + 1]}));
    }
  }
};

/// 16-bit operands, E of them per piece, with f32 sums.
template <class T, int E, class R = T>
struct DotHalf : MathHalf<T, E, R> {
  using Chunk = typename MathHalf<T, E, R>::Chunk;
  static constexpr bool kDoubtsNonfinite = false;

  static __device__ __forceinline__ void multiply(float (&sum)[4], const Chunk& y0, const Chunk& y1,
                                                  const Chunk& x) {
#pragma unroll
    for (int w = 0; w < E / 2; ++w) mma_half(sum, y0.w[w], y1.w[w], x.w[w], T{});
  }
};

}  // namespace sptile::runtime::cuda
