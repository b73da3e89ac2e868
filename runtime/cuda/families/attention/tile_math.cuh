// The two products of attention on tensor cores for each type of operands. A lane moves kElements consecutive
// features at a time: a chunk.
#pragma once

#include <cstdint>

#include "runtime/cuda/families/tile/memory.cuh"

namespace sptile::runtime::cuda {

/// f32 operands, tf32 products.
struct AttentionF32 {
  using Dense = float;
  using Result = float;
  static constexpr int kElements = 4;
  using Chunk = MathF32<false>::Chunk;

  /// A chunk of each of the lane's two rows of X.
  struct Rows {
    std::uint32_t w[2][4];
  };
  static __device__ __forceinline__ void put(Rows& rows, int half, const Chunk& x) {
#pragma unroll
    for (int e = 0; e < 4; ++e) rows.w[e / 2][e % 2 * 2 + half] = to_tf32(x.e[e]);
  }
  /// Adds the products of rows of X and of the row of Y that the lane has read.
  static __device__ __forceinline__ void score(float (&s)[4], const Rows& rows, const Chunk& y) {
#pragma unroll
    for (int j = 0; j < 2; ++j) mma_tf32(s, rows.w[j], {to_tf32(y.e[2 * j]), to_tf32(y.e[2 * j + 1])});
  }

  /// The weights of both rows for the lane's two columns.
  struct Weights {
    std::uint32_t w[4];
  };
  static __device__ __forceinline__ Weights weights(const float (&p)[4]) {
    return {{to_tf32(p[0]), to_tf32(p[2]), to_tf32(p[1]), to_tf32(p[3])}};
  }
  static __device__ __forceinline__ void add(float (&sums)[kElements][4], const Weights& p, const Chunk& low,
                                             const Chunk& high) {
#pragma unroll
    for (int e = 0; e < kElements; ++e) mma_tf32(sums[e], p.w, {to_tf32(low.e[e]), to_tf32(high.e[e])});
  }
  static __device__ __forceinline__ float at(const Chunk& chunk, int e) { return chunk.e[e]; }
};

/// 16-bit operands, f32 sums; weights are rounded to the type of the operands.
template <class T, int E, class R>
struct AttentionHalf {
  using Dense = T;
  using Result = R;
  static constexpr int kElements = E;
  using Chunk = typename MathHalf<T, E, R>::Chunk;

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
  static __device__ __forceinline__ float at(const Chunk& chunk, int e) {
    return widen(T{static_cast<std::uint16_t>(chunk.w[e / 2] >> (16 * (e % 2)))});
  }

 private:
  static __device__ __forceinline__ std::uint32_t pair(float x, float y) {
    return std::uint32_t{narrow<T>(x).bits} | std::uint32_t{narrow<T>(y).bits} << 16;
  }
};

}  // namespace sptile::runtime::cuda
