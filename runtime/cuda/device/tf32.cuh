// Products of f32 accuracy from tf32 MMAs: each factor is the sum of two tf32 numbers.
#pragma once

#include <cmath>
#include <cstdint>

#include "runtime/cuda/device/ptx.cuh"

namespace sptile::runtime::cuda {

/// Rounds factors to tf32. kSplit: the rounded rests go to `small`. Factors that rounding would turn into
/// infinity are then truncated, so the parts of finite factors are finite. The rest of NaN and infinity is
/// NaN, which add_split ignores.
template <bool kSplit, int kCount>
__device__ __forceinline__ void round_factors(std::uint32_t (&big)[kCount], std::uint32_t* small,
                                              const float (&x)[kCount]) {
  constexpr float kRoundsToInfinity = 0x1.ffep+127F;
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    if constexpr (kSplit) {
      const std::uint32_t bits = fabsf(x[i]) >= kRoundsToInfinity ? __float_as_uint(x[i]) : to_tf32(x[i]);
      big[i] = bits & 0xffffe000u;
      small[i] = to_tf32(x[i] - __uint_as_float(big[i]));
    } else {
      big[i] = to_tf32(x[i]);
    }
  }
}

/// Adds the products of split factors; kExactB: those of b have no rest. What NaN and infinity give is what
/// IEEE arithmetic gives for the factors, except that subnormal factors may count as zero.
///
/// A product with a rest that is zero or NaN would be NaN where the other factor is infinite, so what the
/// products with rests come to is replaced by any finite number where it is not finite. It is finite where
/// all factors are: a rest is at most 2^-10 of its factor. Where one is not, neither is the product of the
/// big parts, and the finite number does not change it.
///
/// The tensor cores cut off what they add, so over many MMAs errors would pile up: only the products of one
/// are added there, the small ones first, as they lose least.
template <bool kExactB = false>
__device__ __forceinline__ void add_split(float (&sum)[4], const std::uint32_t (&big_a)[4],
                                          const std::uint32_t (&small_a)[4], const std::uint32_t (&big_b)[2],
                                          const std::uint32_t (&small_b)[2]) {
  constexpr float kLargest = 0x1.fffffep+127F;
  float part[4] = {};
  mma_tf32(part, small_a, big_b);
  if constexpr (!kExactB) mma_tf32(part, big_a, small_b);
#pragma unroll
  for (int i = 0; i < 4; ++i) part[i] = fminf(fmaxf(part[i], -kLargest), kLargest);
  mma_tf32(part, big_a, big_b);
#pragma unroll
  for (int i = 0; i < 4; ++i) sum[i] += part[i];
}

}  // namespace sptile::runtime::cuda
