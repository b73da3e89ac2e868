// One tile times the B rows of its columns, for a segment of 8 * kElements features: fragments and MMAs of
// each precision. Which element is where: lanes.hpp.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <type_traits>

#include "runtime/cuda/device/ptx.cuh"
#include "runtime/cuda/device/tf32.cuh"

namespace sptile::runtime::cuda {

/// Value type of a pattern matrix: every entry is 1.
struct Ones {};

__device__ __forceinline__ float widen(float x) { return x; }
__device__ __forceinline__ float widen(Half x) { return __half2float(__ushort_as_half(x.bits)); }
__device__ __forceinline__ float widen(BFloat16 x) { return __uint_as_float(std::uint32_t{x.bits} << 16); }
__device__ __forceinline__ double widen(double x) { return x; }

template <class T, class Acc>
__device__ __forceinline__ T narrow(Acc x) {
  if constexpr (std::is_same_v<T, Half>)
    return {__half_as_ushort(__float2half_rn(x))};
  else if constexpr (std::is_same_v<T, BFloat16>)
    return {__bfloat16_as_ushort(__float2bfloat16_rn(x))};
  else
    return x;
}

/// f32 operands, tf32 products (one MMA), or products of f32 accuracy from the two halves of each factor.
template <bool kSplit>
struct MathF32 {
  using Dense = float;
  using Result = float;
  using Acc = float;
  static constexpr int kElements = 4;  ///< consecutive features of a lane: 16 bytes
  struct Chunk {
    float e[kElements];
  };
  /// Sums of one segment: sum[j][2 * i + r] is feature 2j + i of the lane's, row r of its two.
  using Sums = float[kElements / 2][4];

  template <class V>
  static constexpr bool kExact = !std::is_same_v<V, float>;  ///< the value types that tf32 holds exactly

  /// The lane's two entries of the sparse operand.
  template <class V>
  struct Entries {
    std::uint32_t big[2];
    std::uint32_t small[2];
  };
  template <class V>
  static __device__ __forceinline__ Entries<V> entries(V v0, V v1) {
    Entries<V> s{};
    const float x[2] = {widen(v0), widen(v1)};
    if constexpr (kExact<V>) {
      s.big[0] = __float_as_uint(x[0]);
      s.big[1] = __float_as_uint(x[1]);
    } else {
      round_factors<kSplit>(s.big, s.small, x);
    }
    return s;
  }
  template <class V = Half>
  static __device__ __forceinline__ Entries<V> ones(bool p0, bool p1) {
    return {{p0 ? 0x3f800000u : 0u, p1 ? 0x3f800000u : 0u}, {}};
  }

  /// The dense operand of MMA j.
  struct Fragment {
    std::uint32_t big[kElements / 2][4];
    std::uint32_t small[kSplit ? kElements / 2 : 1][4];
  };
  static __device__ __forceinline__ Fragment fragment(const Chunk& x, const Chunk& y) {
    Fragment f;
#pragma unroll
    for (int j = 0; j < kElements / 2; ++j) {
      const float from[4] = {x.e[2 * j], x.e[2 * j + 1], y.e[2 * j], y.e[2 * j + 1]};
      round_factors<kSplit>(f.big[j], f.small[kSplit ? j : 0], from);
    }
    return f;
  }

  template <class V>
  static __device__ __forceinline__ void multiply(Sums& sum, const Fragment& f, const Entries<V>& s) {
#pragma unroll
    for (int j = 0; j < kElements / 2; ++j) {
      if constexpr (kSplit)
        add_split<kExact<V>>(sum[j], f.big[j], f.small[j], s.big, s.small);
      else
        mma_tf32(sum[j], f.big[j], s.big);
    }
  }
  static __device__ __forceinline__ float sum_at(const Sums& sum, int e, int r) {
    return sum[e / 2][2 * (e % 2) + r];
  }
  static __device__ __forceinline__ float& sum_at(Sums& sum, int e, int r) {
    return sum[e / 2][2 * (e % 2) + r];
  }
};

/// 16-bit operands, f32 sums, which are rounded to R. E is 8 (16 bytes a lane) or, for few features, 4.
///
/// m16n8k8 rather than k16: one tile is one MMA, as in tf32, and no odd tile is left over at the end of a
/// window; the tensor cores have time to spare.
template <class T, int E, class R = T>
struct MathHalf {
  using Dense = T;
  using Result = R;
  using Acc = float;
  static constexpr int kElements = E;
  struct Chunk {
    std::uint32_t w[E / 2];  ///< two features a word
  };
  using Sums = float[E / 2][4];

  template <class V>
  struct Entries {
    std::uint32_t pair;
  };
  static __device__ __forceinline__ Entries<T> entries(T v0, T v1) {
    return {std::uint32_t{v0.bits} | std::uint32_t{v1.bits} << 16};
  }
  template <class V = T>
  static __device__ __forceinline__ Entries<V> ones(bool p0, bool p1) {
    constexpr std::uint32_t kOne = std::is_same_v<T, Half> ? 0x3c00u : 0x3f80u;
    return {(p0 ? kOne : 0u) | (p1 ? kOne << 16 : 0u)};
  }

  struct Fragment {
    std::uint32_t low[E / 2], high[E / 2];  ///< features 2j and 2j + 1, each with its two k
  };
  static __device__ __forceinline__ Fragment fragment(const Chunk& x, const Chunk& y) {
    Fragment f;
#pragma unroll
    for (int j = 0; j < E / 2; ++j) {
      f.low[j] = __byte_perm(x.w[j], y.w[j], 0x5410);
      f.high[j] = __byte_perm(x.w[j], y.w[j], 0x7632);
    }
    return f;
  }
  template <class V>
  static __device__ __forceinline__ void multiply(Sums& sum, const Fragment& f, const Entries<V>& s) {
#pragma unroll
    for (int j = 0; j < E / 2; ++j) mma_half(sum[j], f.low[j], f.high[j], s.pair, T{});
  }
  static __device__ __forceinline__ float sum_at(const Sums& sum, int e, int r) {
    return sum[e / 2][2 * (e % 2) + r];
  }
  static __device__ __forceinline__ float& sum_at(Sums& sum, int e, int r) {
    return sum[e / 2][2 * (e % 2) + r];
  }
};

/// f64: m8n8k4, once for each of the lane's two k. Its result rows are the groups, its columns as in m16n8k8.
struct MathF64 {
  using Dense = double;
  using Result = double;
  using Acc = double;
  static constexpr int kElements = 2;
  struct Chunk {
    double e[kElements];
  };
  using Sums = double[kElements][2];

  template <class V>
  struct Entries {
    double v[2];
  };
  static __device__ __forceinline__ Entries<double> entries(double v0, double v1) { return {{v0, v1}}; }
  template <class V = double>
  static __device__ __forceinline__ Entries<V> ones(bool p0, bool p1) {
    return {{p0 ? 1.0 : 0.0, p1 ? 1.0 : 0.0}};
  }

  struct Fragment {
    Chunk row[2];
  };
  static __device__ __forceinline__ Fragment fragment(const Chunk& x, const Chunk& y) { return {{x, y}}; }
  template <class V>
  static __device__ __forceinline__ void multiply(Sums& sum, const Fragment& f, const Entries<V>& s) {
#pragma unroll
    for (int e = 0; e < kElements; ++e)
#pragma unroll
      for (int k = 0; k < 2; ++k) mma_f64(sum[e], f.row[k].e[e], s.v[k]);
  }
  static __device__ __forceinline__ double sum_at(const Sums& sum, int e, int r) { return sum[e][r]; }
  static __device__ __forceinline__ double& sum_at(Sums& sum, int e, int r) { return sum[e][r]; }
};

}  // namespace sptile::runtime::cuda
