// Products of f32 accuracy from tf32 MMAs: each factor is the sum of two tf32 numbers.
#pragma once

#include <cmath>
#include <cstdint>

#include "runtime/cuda/device/ptx.cuh"

namespace sptile::runtime::cuda {

/// The number that the tensor core sees.
__device__ __forceinline__ float round_tf32(float x) { return __uint_as_float(to_tf32(x) & 0xffffe000u); }

/// Rounds factors to tf32. kSplit: the rounded rests go to `small`. Without kIeee, NaN, infinity and factors
/// that round to infinity have rests that make each sum of products NaN or infinite: whoever promises more
/// forms these sums again. kIeee: such factors are truncated instead, so the parts of finite factors are
/// finite, and the rest of NaN and infinity is NaN, which add_split ignores.
template <bool kSplit, bool kIeee = false, int kCount>
__device__ __forceinline__ void round_factors(std::uint32_t (&big)[kCount], std::uint32_t* small,
                                              const float (&x)[kCount]) {
  constexpr float kRoundsToInfinity = 0x1.ffep+127F;
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    if constexpr (kSplit && kIeee) {
      const std::uint32_t bits = fabsf(x[i]) >= kRoundsToInfinity ? __float_as_uint(x[i]) : to_tf32(x[i]);
      big[i] = bits & 0xffffe000u;
      small[i] = to_tf32(x[i] - __uint_as_float(big[i]));
    } else {
      big[i] = to_tf32(x[i]);
      if constexpr (kSplit) small[i] = to_tf32(x[i] - round_tf32(x[i]));
    }
  }
}

/// Adds the products of split factors; kExactB: those of b have no rest.
///
/// The tensor cores cut off what they add, so over many MMAs errors would pile up: only the products of one
/// are added there, the small ones first, as they lose least.
///
/// kIeee: what NaN and infinity give is what IEEE arithmetic gives for the factors, except that subnormal
/// factors may count as zero. A product with a rest that is zero or NaN would be NaN where the other factor
/// is infinite, so the sum of products with rests is replaced by a finite number where it is not finite. It
/// is finite where all factors are: a rest is at most 2^-10 of its factor. Where one is not, neither is the
/// product of the big parts, and the finite number does not change it. SDDMM took 1.28 times as long with it,
/// tile SpMM up to 1.35 times (H100): the MMAs wait for each other.
template <bool kExactB = false, bool kIeee = false>
__device__ __forceinline__ void add_split(float (&sum)[4], const std::uint32_t (&big_a)[4],
                                          const std::uint32_t (&small_a)[4], const std::uint32_t (&big_b)[2],
                                          const std::uint32_t (&small_b)[2]) {
  constexpr float kLargest = 0x1.fffffep+127F;
  float part[4] = {};
  mma_tf32(part, small_a, big_b);
  if constexpr (!kExactB) mma_tf32(part, big_a, small_b);
  if constexpr (kIeee)
#pragma unroll
    for (int i = 0; i < 4; ++i) part[i] = fminf(fmaxf(part[i], -kLargest), kLargest);
  mma_tf32(part, big_a, big_b);
#pragma unroll
  for (int i = 0; i < 4; ++i) sum[i] += part[i];
}

}  // namespace sptile::runtime::cuda
