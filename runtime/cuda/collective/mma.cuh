// Tensor core products of each precision: operands, instructions, and the fragments of tile products.
//
// Lane mappings are those of lanes.hpp. Precisions: tf32, f32 from split tf32, f16 and bf16 with f32 sums,
// f64. Products of warpgroups are in device/ptx.cuh; their operand descriptors are here.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "runtime/cuda/collective/lanes.hpp"
#include "runtime/cuda/collective/number.cuh"
#include "runtime/cuda/device/ptx.cuh"
#include "runtime/cuda/device/qualifiers.hpp"

namespace sptile::runtime::cuda {

/// Returns the number that the tensor core reads for x: x rounded to tf32.
__device__ __forceinline__ float round_tf32(float x) { return __uint_as_float(to_tf32(x) & 0xffffe000u); }

/// Operand of m16n8k8 in tf32: kWords is 4 for the first operand and 2 for the second. With kSplit a factor
/// is the sum of two tf32 numbers, big + small; small is what rounding cut off.
template <bool kSplit, int kWords>
struct Tf32Operand {
  std::uint32_t big[kWords];
  std::uint32_t small[kWords];
};
template <int kWords>
struct Tf32Operand<false, kWords> {
  std::uint32_t big[kWords];
};

/// Rounds factors to tf32 and, with kSplit, their residues to tf32.
///
/// Without kIeee, the residues of NaN, infinity and factors that round to infinity make each sum of products
/// NaN or infinite. Callers that promise IEEE results must recompute such sums. With kIeee, such factors are
/// truncated instead of rounded: both parts of a finite factor are finite. The residue of NaN and infinity is
/// NaN, which mma ignores.
template <bool kSplit, bool kIeee = false, int kWords>
__device__ __forceinline__ Tf32Operand<kSplit, kWords> tf32_operand(const float (&x)[kWords]) {
  constexpr float kRoundsToInfinity = 0x1.ffep+127F;
  Tf32Operand<kSplit, kWords> operand;
#pragma unroll
  for (int i = 0; i < kWords; ++i) {
    if constexpr (kSplit && kIeee) {
      const std::uint32_t bits = fabsf(x[i]) >= kRoundsToInfinity ? __float_as_uint(x[i]) : to_tf32(x[i]);
      operand.big[i] = bits & 0xffffe000u;
      operand.small[i] = to_tf32(x[i] - __uint_as_float(operand.big[i]));
    } else {
      operand.big[i] = to_tf32(x[i]);
      if constexpr (kSplit) operand.small[i] = to_tf32(x[i] - round_tf32(x[i]));
    }
  }
  return operand;
}

/// Adds a * b to sum, in tf32.
template <bool kExactB = false, bool kIeee = false>
__device__ __forceinline__ void mma(float (&sum)[4], const Tf32Operand<false, 4>& a,
                                    const Tf32Operand<false, 2>& b) {
  mma_tf32(sum, a.big, b.big);
}

/// Adds a * b to sum, with f32 accuracy. kExactB: factors of b have no residues.
///
/// Tensor cores truncate their sums, so errors would accumulate over many MMAs. Therefore only the products
/// of one tile are added there, in ascending order of magnitude, and their sum is added to `sum` in f32.
///
/// With kIeee, NaN and infinity propagate as in IEEE arithmetic, except that subnormal factors may count as
/// zero. A residue that is zero or NaN times an infinite factor is NaN; therefore the sum of all products
/// with residues is clamped to the finite range. If all factors are finite, the sum is finite without
/// clamping, because a residue is at most 2^-10 of its factor. Otherwise the product of the big parts is not
/// finite either, and a finite addend does not change it. The clamp made SDDMM take 1.28 times and tile SpMM
/// up to 1.35 times as long (H100), because the MMAs then depend on each other.
template <bool kExactB = false, bool kIeee = false>
__device__ __forceinline__ void mma(float (&sum)[4], const Tf32Operand<true, 4>& a,
                                    const Tf32Operand<true, 2>& b) {
  constexpr float kLargest = 0x1.fffffep+127F;
  float part[4] = {};
  mma_tf32(part, a.small, b.big);
  if constexpr (!kExactB) mma_tf32(part, a.big, b.small);
  if constexpr (kIeee)
#pragma unroll
    for (int i = 0; i < 4; ++i) part[i] = fminf(fmaxf(part[i], -kLargest), kLargest);
  mma_tf32(part, a.big, b.big);
#pragma unroll
  for (int i = 0; i < 4; ++i) sum[i] += part[i];
}

/// Sums of a segment of kElements features per lane and 8 tile rows: sums[j][2 * i + r] is feature 2j + i of
/// the lane, row r of its two.
template <int kElements>
struct MmaSums {
  using Sums = float[kElements / 2][4];
  static __device__ __forceinline__ float sum_at(const Sums& sum, int e, int r) {
    return sum[e / 2][2 * (e % 2) + r];
  }
  static __device__ __forceinline__ float& sum_at(Sums& sum, int e, int r) {
    return sum[e / 2][2 * (e % 2) + r];
  }
};

/// f32 operands; tf32 products, or with kSplit products of f32 accuracy. The structs of other precisions have
/// the same members:
///   Dense, Result, Acc  types of dense operands, results and sums
///   kElements           consecutive features of a row of B that a lane loads: a Chunk
///   Entries             the lane's two elements of the sparse tile, the second operand
///   Fragment            the dense operand of a segment: the lane's chunks of the rows of two tile columns
template <bool kSplit>
struct MathF32 : MmaSums<4> {
  using Dense = float;
  using Result = float;
  using Acc = float;
  static constexpr int kElements = 4;  ///< 16 bytes
  struct Chunk {
    float e[kElements];
  };

  /// True if tf32 represents all values of type V.
  template <class V>
  static constexpr bool kExact = !std::is_same_v<V, float>;

  template <class V>
  struct Entries : Tf32Operand<kSplit, 2> {};
  template <class V>
  static __device__ __forceinline__ Entries<V> entries(V v0, V v1) {
    const float x[2] = {widen(v0), widen(v1)};
    if constexpr (kExact<V>)
      return exact<V>(__float_as_uint(x[0]), __float_as_uint(x[1]));
    else
      return {tf32_operand<kSplit>(x)};
  }
  template <class V = Half>
  static __device__ __forceinline__ Entries<V> ones(bool p0, bool p1) {
    return exact<V>(p0 ? 0x3f800000u : 0u, p1 ? 0x3f800000u : 0u);
  }

  /// The dense operand of MMA j.
  struct Fragment {
    Tf32Operand<kSplit, 4> operand[kElements / 2];
  };
  static __device__ __forceinline__ Fragment fragment(const Chunk& x, const Chunk& y) {
    Fragment f;
#pragma unroll
    for (int j = 0; j < kElements / 2; ++j)
      f.operand[j] = tf32_operand<kSplit>({x.e[2 * j], x.e[2 * j + 1], y.e[2 * j], y.e[2 * j + 1]});
    return f;
  }

  template <class V>
  static __device__ __forceinline__ void multiply(Sums& sum, const Fragment& f, const Entries<V>& s) {
#pragma unroll
    for (int j = 0; j < kElements / 2; ++j) mma<kExact<V>>(sum[j], f.operand[j], s);
  }

 private:
  /// Factors that tf32 represents; their residues are zero.
  template <class V>
  static __device__ __forceinline__ Entries<V> exact(std::uint32_t x0, std::uint32_t x1) {
    Entries<V> s{};
    s.big[0] = x0;
    s.big[1] = x1;
    return s;
  }
};

/// 16-bit operands and f32 sums, which are rounded to R. E is 8 (16 bytes per lane) or, for few features, 4.
///
/// The instruction is m16n8k8 rather than m16n8k16: a tile is one MMA, as in tf32, so that a window has no
/// odd tile at its end. The kernels are not bound by the tensor cores.
template <class T, int E, class R = T>
struct MathHalf : MmaSums<E> {
  using Dense = T;
  using Result = R;
  using Acc = float;
  using typename MmaSums<E>::Sums;
  static constexpr int kElements = E;
  struct Chunk {
    std::uint32_t w[E / 2];  ///< two features per word
  };

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
    std::uint32_t low[E / 2], high[E / 2];  ///< features 2j and 2j + 1, both k of each
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
};

/// f64: m8n8k4, once for each of the lane's two k. Its result rows are the groups, its columns those of
/// m16n8k8.
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

/// Returns element e of a chunk, widened.
template <class Math>
__device__ __forceinline__ typename Math::Acc chunk_at(const typename Math::Chunk& chunk, int e) {
  using Dense = typename Math::Dense;
  if constexpr (sizeof(Dense) == 2)
    return widen(Dense{static_cast<std::uint16_t>(chunk.w[e / 2] >> (16 * (e % 2)))});
  else
    return chunk.e[e];
}

/// Warps of a warpgroup; its first warp has a number that is a multiple of four.
inline constexpr int kWarpgroup = 4;

/// True in code for devices with warpgroup instructions. Kernels that need them are not
/// launched on other devices.
#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL)
inline constexpr bool kHasWarpgroups = false;
#else
inline constexpr bool kHasWarpgroups = true;
#endif

/// Returns the descriptor of an operand in shared memory: K-major core matrices of 8 rows of 16 bytes,
/// without swizzling. `along_k` and `along_n` are the distances between core matrices in bytes, to the next
/// 16 bytes of k and to the next 8 rows.
SPTILE_HOST_DEVICE constexpr std::uint64_t warpgroup_operand(std::uint32_t at, std::uint32_t along_k,
                                                             std::uint32_t along_n) {
  return std::uint64_t{at >> 4} | std::uint64_t{along_k >> 4} << 16 | std::uint64_t{along_n >> 4} << 32;
}

/// Returns the descriptor of rows of 16-bit numbers in shared memory, one per k, which the warpgroup
/// multiplies by tiles: MN-major blocks of kSwizzledBytes with 128-byte swizzling (PTX ISA, wgmma). `along_k`
/// and `along_n` are the distances between blocks in bytes, to the next 8 rows and to the next 64 columns.
SPTILE_HOST_DEVICE constexpr std::uint64_t warpgroup_rows(std::uint32_t at, std::uint32_t along_k,
                                                          std::uint32_t along_n) {
  return std::uint64_t{at >> 4} | std::uint64_t{along_n >> 4} << 16 | std::uint64_t{along_k >> 4} << 32 |
         std::uint64_t{1} << 62;
}

}  // namespace sptile::runtime::cuda
