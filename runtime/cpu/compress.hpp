// Compression of 8 elements by a mask. Compiled once per instruction set.
#pragma once

#include <cstdint>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace sptile::runtime::SPTILE_ISA {

/// Writes ids[i] for every set bit i of `mask` (8 bits), in order, to `to`. Always writes 8 elements;
/// excess ones are unspecified.
#if defined(__AVX512VL__)
[[gnu::always_inline]] inline void compress8(const std::int32_t* ids, unsigned mask, std::int32_t* to) {
  const __m256i all = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(ids));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                      _mm256_maskz_compress_epi32(static_cast<__mmask8>(mask), all));
}
#elif defined(__AVX2__)
/// Positions of the set bits of each mask, one byte each.
struct CompressTable {
  std::uint64_t positions[256] = {};
  constexpr CompressTable() {
    for (unsigned mask = 0; mask < 256; ++mask)
      for (unsigned bit = 0, next = 0; bit < 8; ++bit)
        if ((mask >> bit & 1u) != 0) positions[mask] |= std::uint64_t{bit} << (8 * next++);
  }
};
inline constexpr CompressTable kCompressTable;

[[gnu::always_inline]] inline void compress8(const std::int32_t* ids, unsigned mask, std::int32_t* to) {
  const __m128i bytes = _mm_cvtsi64_si128(static_cast<long long>(kCompressTable.positions[mask]));
  const __m256i all = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(ids));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                      _mm256_permutevar8x32_epi32(all, _mm256_cvtepu8_epi32(bytes)));
}
#else
[[gnu::always_inline]] inline void compress8(const std::int32_t* ids, unsigned mask, std::int32_t* to) {
  for (; mask != 0; mask &= mask - 1) *to++ = ids[__builtin_ctz(mask)];
}
#endif

}  // namespace sptile::runtime::SPTILE_ISA
