// Short vectors of the accumulator type, with loads from and stores to dense elements. Compiled once per
// instruction set, in the namespace SPTILE_ISA that the build defines.
#pragma once

#include <cstdint>
#include <type_traits>

#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include "formats/core/half.hpp"

namespace sptile::runtime::SPTILE_ISA {

#if defined(__AVX512F__)
inline constexpr int kVectorBytes = 64;
#elif defined(__AVX2__) || __ARM_FEATURE_SVE_BITS == 256
inline constexpr int kVectorBytes = 32;
#else
inline constexpr int kVectorBytes = 16;
#endif

template <class T, int L>
struct VectorOf {
  typedef T type __attribute__((vector_size(L * sizeof(T))));
};
template <class T>
struct VectorOf<T, 1> {
  using type = T;  // compilers keep a vector of one element in memory
};
/// Vector of L elements of T.
template <class T, int L>
using Vector = typename VectorOf<T, L>::type;

/// Type in which products of dense elements D are computed and added.
template <class D>
struct AccumulatorOf {
  using type = float;
};
template <>
struct AccumulatorOf<double> {
  using type = double;
};
template <class D>
using Accumulator = typename AccumulatorOf<D>::type;

template <class To, class From>
[[gnu::always_inline]] inline To bits_as(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  __builtin_memcpy(&to, &from, sizeof(to));
  return to;
}

/// Returns the elements of `yes` if the mask is set, else those of `no`.
template <class M, class V>
[[gnu::always_inline]] inline V select(M mask, V yes, V no) {
  if constexpr (std::is_same_v<M, bool>)
    return mask ? yes : no;
  else
    return (yes & V(mask)) | (no & ~V(mask));
}

/// Converts each element.
template <class To, class From>
[[gnu::always_inline]] inline To convert(From from) {
  if constexpr (std::is_arithmetic_v<From>)
    return static_cast<To>(from);
  else
    return __builtin_convertvector(from, To);
}

template <int L>
using U32 = Vector<std::uint32_t, L>;
template <int L>
using F32 = Vector<float, L>;

template <int L>
[[gnu::always_inline]] inline F32<L> widen(U32<L> bits, BFloat16) {
  return bits_as<F32<L>>(bits << 16);
}

/// Shifts the 15 bits below the sign to their position in float. The multiplication by 2^112 corrects the
/// exponent and normalizes subnormals. Results of at least 2^16 were infinity or NaN.
template <int L>
[[gnu::always_inline]] inline F32<L> widen(U32<L> bits, Half) {
  const F32<L> scaled = bits_as<F32<L>>((bits & 0x7fffu) << 13) * 0x1p112f;
  const U32<L> magnitude = bits_as<U32<L>>(scaled);
  const U32<L> special = select(magnitude >= 0x47800000u, U32<L>{} + 0x7f800000u, U32<L>{});
  return bits_as<F32<L>>(magnitude | special | (bits & 0x8000u) << 16);
}

template <int L>
[[gnu::always_inline]] inline U32<L> narrow(F32<L> x, BFloat16) {
  const auto bits = bits_as<U32<L>>(x);
  const U32<L> rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
  return select((bits & 0x7fffffffu) > 0x7f800000u, (bits >> 16) | 0x40u, rounded);
}

/// Same steps as to_half in formats/core/half.hpp, with selections instead of branches.
template <int L>
[[gnu::always_inline]] inline U32<L> narrow(F32<L> x, Half) {
  const auto bits = bits_as<U32<L>>(x);
  const U32<L> magnitude = bits & 0x7fffffffu;
  const U32<L> normal = (magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1u)) >> 13;
  const U32<L> subnormal = bits_as<U32<L>>(bits_as<F32<L>>(magnitude) + 0.5f) - 0x3f000000u;
  const U32<L> nan = (magnitude >> 13 & 0x3ffu) | 0x7e00u;
  U32<L> result = select(magnitude < 0x38800000u, subnormal, normal);
  result = select(magnitude >= 0x477ff000u, U32<L>{} + 0x7c00u, result);
  result = select(magnitude > 0x7f800000u, nan, result);
  return result | (bits >> 16 & 0x8000u);
}

/// Converts between a vector of 16-bit elements D and float, with one instruction if available.
template <int L, class D>
[[gnu::always_inline]] inline F32<L> widen_bits(Vector<std::uint16_t, L> bits) {
#if defined(__F16C__)
  if constexpr (std::is_same_v<D, Half> && L == 8)
    return bits_as<F32<L>>(_mm256_cvtph_ps(bits_as<__m128i>(bits)));
#endif
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<D, Half> && L == 16)
    return bits_as<F32<L>>(_mm512_cvtph_ps(bits_as<__m256i>(bits)));
#endif
#if defined(__aarch64__)
  // GCC 12 converts the elements of an 8-byte vector one at a time.
  if constexpr (std::is_same_v<D, Half> && L == 4)
    return bits_as<F32<L>>(vcvt_f32_f16(bits_as<float16x4_t>(bits)));
  else if constexpr (std::is_same_v<D, Half> && L > 4)
    return convert<F32<L>>(bits_as<Vector<__fp16, L>>(bits));
#endif
  return widen<L>(convert<U32<L>>(bits), D{});
}

template <int L, class D>
[[gnu::always_inline]] inline Vector<std::uint16_t, L> narrow_bits(F32<L> x) {
#if defined(__F16C__)
  if constexpr (std::is_same_v<D, Half> && L == 8)
    return bits_as<Vector<std::uint16_t, L>>(_mm256_cvtps_ph(bits_as<__m256>(x), _MM_FROUND_TO_NEAREST_INT));
#endif
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<D, Half> && L == 16)
    return bits_as<Vector<std::uint16_t, L>>(_mm512_cvtps_ph(bits_as<__m512>(x), _MM_FROUND_TO_NEAREST_INT));
#endif
#if defined(__aarch64__)
  if constexpr (std::is_same_v<D, Half> && L == 4)
    return bits_as<Vector<std::uint16_t, L>>(vcvt_f16_f32(bits_as<float32x4_t>(x)));
  else if constexpr (std::is_same_v<D, Half> && L > 4)
    return bits_as<Vector<std::uint16_t, L>>(convert<Vector<__fp16, L>>(x));
#endif
  return convert<Vector<std::uint16_t, L>>(narrow<L>(x, D{}));
}

/// Loads L elements, unaligned, and widens them to the accumulator type.
template <int L, class D>
[[gnu::always_inline]] inline Vector<Accumulator<D>, L> load(const D* from) {
  if constexpr (sizeof(D) == sizeof(std::uint16_t)) {
    Vector<std::uint16_t, L> bits;
    __builtin_memcpy(&bits, from, sizeof(bits));
    return widen_bits<L, D>(bits);
  } else {
    Vector<D, L> x;
    __builtin_memcpy(&x, from, sizeof(x));
    return x;
  }
}

/// Stores L elements, rounded to nearest.
template <int L, class D>
[[gnu::always_inline]] inline void store(D* to, Vector<Accumulator<D>, L> x) {
  if constexpr (sizeof(D) == sizeof(std::uint16_t)) {
    const auto bits = narrow_bits<L, D>(x);
    __builtin_memcpy(static_cast<void*>(to), &bits, sizeof(bits));
  } else {
    __builtin_memcpy(to, &x, sizeof(x));
  }
}

/// Masked loads and stores of full vectors are available.
#if defined(__AVX512F__)
inline constexpr bool kMasksLanes = true;
#else
inline constexpr bool kMasksLanes = false;
#endif

/// Mask of the lanes of a vector.
using LaneBits = std::uint16_t;
inline constexpr LaneBits kAllLanes = 0xffff;

/// Loads a full vector: the elements of set lanes, and 0 in the others, whose memory is not read. Without
/// masks, all lanes must be set.
template <int L, class D>
[[gnu::always_inline]] inline Vector<D, L> load_lanes(const D* from, [[maybe_unused]] LaneBits lanes) {
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<D, double>)
    return bits_as<Vector<D, L>>(_mm512_maskz_loadu_pd(static_cast<__mmask8>(lanes), from));
  else
    return bits_as<Vector<D, L>>(_mm512_maskz_loadu_ps(lanes, from));
#else
  return load<L>(from);
#endif
}

/// Stores the set lanes of a full vector. Without masks, all lanes must be set.
template <int L, class D>
[[gnu::always_inline]] inline void store_lanes(D* to, [[maybe_unused]] LaneBits lanes, Vector<D, L> x) {
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<D, double>)
    _mm512_mask_storeu_pd(to, static_cast<__mmask8>(lanes), bits_as<__m512d>(x));
  else
    _mm512_mask_storeu_ps(to, lanes, bits_as<__m512>(x));
#else
  store<L>(to, x);
#endif
}

inline constexpr std::int64_t kStreamPart = 16;  ///< smallest non-temporal store, in bytes
/// Alignment of non-temporal vector stores, in bytes.
inline constexpr std::int64_t kStreamPlace = kMasksLanes ? kVectorBytes : kStreamPart;

/// Stores the set lanes of a vector with non-temporal stores; `to` must be aligned to kStreamPart.
template <int L, class D>
[[gnu::always_inline]] inline void stream_lanes(D* to, [[maybe_unused]] LaneBits lanes, Vector<D, L> x) {
#if defined(__SSE2__)
  if constexpr (L * sizeof(D) >= kStreamPart) {
    constexpr std::size_t kParts = L * sizeof(D) / kStreamPart;
    __m128i parts[kParts];
    __builtin_memcpy(parts, &x, sizeof(parts));
#pragma GCC unroll 4
    for (std::size_t i = 0; i < kParts; ++i)
      if ((lanes >> (i * L / kParts) & 1u) != 0)
        _mm_stream_si128(reinterpret_cast<__m128i*>(to) + i, parts[i]);
    return;
  }
#endif
  store<L>(to, x);
}

/// Stores a vector with non-temporal stores; `to` must be aligned to kStreamPlace.
template <int L, class D>
[[gnu::always_inline]] inline void stream(D* to, Vector<D, L> x) {
#if defined(__AVX512F__)
  if constexpr (L * sizeof(D) == kVectorBytes) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to), bits_as<__m512i>(x));
    return;
  }
#endif
  stream_lanes<L>(to, kAllLanes, x);
}

/// Orders non-temporal stores before later stores. Call it after the last one, before other threads read.
inline void end_streams() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

}  // namespace sptile::runtime::SPTILE_ISA
