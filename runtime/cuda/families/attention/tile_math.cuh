// The two products of attention on tensor cores for each operand type. A lane moves chunks of kElements
// consecutive features.
#pragma once

#include <cstdint>

#include "runtime/cuda/collective/vector.cuh"

namespace sptile::runtime::cuda {

/// f32 operands, tf32 products.
struct AttentionF32 : MathF32<false> {
  /// A chunk of each of the lane's two rows of X.
  struct Rows {
    Tf32Operand<false, 4> operand[2];
  };
  static __device__ __forceinline__ void put(Rows& rows, int half, const Chunk& x) {
#pragma unroll
    for (int e = 0; e < 4; ++e) rows.operand[e / 2].big[e % 2 * 2 + half] = to_tf32(x.e[e]);
  }
  /// Adds the products of the rows of X with the lane's loaded row of Y.
  static __device__ __forceinline__ void score(float (&s)[4], const Rows& rows, const Chunk& y) {
#pragma unroll
    for (int j = 0; j < 2; ++j) mma(s, rows.operand[j], tf32_operand<false>({y.e[2 * j], y.e[2 * j + 1]}));
  }

  /// The weights of both rows for the lane's two columns.
  using Weights = Tf32Operand<false, 4>;
  static __device__ __forceinline__ Weights weights(const float (&p)[4]) {
    return tf32_operand<false>({p[0], p[2], p[1], p[3]});
  }
  static __device__ __forceinline__ void add(float (&sums)[kElements][4], const Weights& p, const Chunk& low,
                                             const Chunk& high) {
#pragma unroll
    for (int e = 0; e < kElements; ++e) mma(sums[e], p, tf32_operand<false>({low.e[e], high.e[e]}));
  }
};

/// 16-bit operands, f32 sums; weights are rounded to the operands' type.
template <class T, int E, class R>
struct AttentionHalf : MathHalf<T, E, R> {
  using typename MathHalf<T, E, R>::Chunk;
  using MathHalf<T, E, R>::kElements;

  struct Rows {
    std::uint32_t w[E / 2][2];
  };
  static __device__ __forceinline__ void put(Rows& rows, int half, const Chunk& x) {
#pragma unroll
    for (int j = 0; j < E / 2; ++j) rows.w[j][half] = x.w[j];
  }
  static __device__ __forceinline__ void score(float (&s)[4], const Rows& rows, const Chunk& y) {
#pragma unroll
    for (int j = 0; j < E / 2; ++j) mma_half(s, rows.w[j][0], rows.w[j][1], y.w[j], T{});
  }

  struct Weights {
    std::uint32_t w[2];
  };
  static __device__ __forceinline__ Weights weights(const float (&p)[4]) {
    return {{pair(p[0], p[1]), pair(p[2], p[3])}};
  }
  static __device__ __forceinline__ void add(float (&sums)[kElements][4], const Weights& p, const Chunk& low,
                                             const Chunk& high) {
#pragma unroll
    for (int j = 0; j < E / 2; ++j) {
      mma_half(sums[2 * j], p.w[0], p.w[1], __byte_perm(low.w[j], high.w[j], 0x5410), T{});
      mma_half(sums[2 * j + 1], p.w[0], p.w[1], __byte_perm(low.w[j], high.w[j], 0x7632), T{});
    }
  }

 private:
  static __device__ __forceinline__ std::uint32_t pair(float x, float y) {
    return std::uint32_t{narrow<T>(x).bits} | std::uint32_t{narrow<T>(y).bits} << 16;
  }
};

}  // namespace sptile::runtime::cuda
