// Short vectors of the accumulator type and how dense elements are loaded into and stored from them.
// Compiled once per instruction set, in the namespace SPTILE_ISA that the build passes.
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
  using type = T;  // a vector of one element would live in memory
};
/// L elements of T.
template <class T, int L>
using Vector = typename VectorOf<T, L>::type;

/// Type in which products of dense elements D are formed and added.
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

/// Picks `yes` where the comparison holds.
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

/// Moves the 15 bits below the sign to where float has them; the multiplication by 2^112 corrects the
/// exponent and normalises subnormals; what lands at 2^16 or above was infinity or NaN.
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

/// Same steps as to_half in formats/core/half.hpp, branches turned into selections.
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

/// Converts between a vector of 16-bit elements D and float, by one instruction where there is one.
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
  // GCC 12 converts the elements of a vector of 8 bytes one by one.
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

/// Loads L elements, at any alignment, widened to the accumulator type.
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

/// Whether a load or a store can leave lanes of a whole vector out.
#if defined(__AVX512F__)
inline constexpr bool kMasksLanes = true;
#else
inline constexpr bool kMasksLanes = false;
#endif

/// Lanes of a vector, a bit each.
using LaneBits = std::uint16_t;
inline constexpr LaneBits kAllLanes = 0xffff;

/// Loads a whole vector: what stands in memory in these lanes, which alone is read, and 0 in the others. All
/// lanes where the machine cannot leave any out.
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

/// Stores these lanes of a whole vector; all where the machine cannot leave any out.
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

inline constexpr std::int64_t kStreamPart = 16;  ///< bytes; the least that is written past the caches at once
/// Where vectors may stand that are written past the caches.
inline constexpr std::int64_t kStreamPlace = kMasksLanes ? kVectorBytes : kStreamPart;

/// Stores those parts of a vector past the caches whose lanes are set; `to` is a multiple of kStreamPart.
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

/// Stores a vector past the caches; `to` is a multiple of kStreamPlace.
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

/// To be called behind the last of them, before others read.
inline void end_streams() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

}  // namespace sptile::runtime::SPTILE_ISA
