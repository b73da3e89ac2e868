// Parsing of decimal digits, eight at a time in one word.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace sptile::formats {

/// Digits at the start of eight bytes.
struct DigitChunk {
  std::uint64_t value;
  int count;  ///< 0 to 8
};

inline constexpr std::array<std::uint64_t, 9> kPowersOfTen = {1,      10,      100,      1000,     10000,
                                                              100000, 1000000, 10000000, 100000000};

/// Parses up to eight digits; eight bytes at `p` must be readable. If count is 0, the value is undefined.
inline DigitChunk read_chunk(const char* p) {
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, p, sizeof bytes);
  if constexpr (std::endian::native == std::endian::big) bytes = __builtin_bswap64(bytes);
  bytes ^= 0x3030303030303030u;  // digits become 0..9
  // The high bit of a byte marks a non-digit. A carry can affect only bytes after the first non-digit.
  const std::uint64_t other = ((bytes + 0x7676767676767676u) | bytes) & 0x8080808080808080u;
  const int bits = std::countr_zero(other) & ~7;  // bits of the digits; 64 if all eight bytes are digits
  bytes <<= -bits & 63;                           // replaces the bytes after the digits by leading zeros
  bytes = bytes * 10 + (bytes >> 8);
  const std::uint64_t quads = 0x000000ff000000ffu;
  return {((bytes & quads) * 0x000f424000000064u + ((bytes >> 16) & quads) * 0x0000271000000001u) >> 32,
          bits / 8};
}

/// Appends the digits at `p` to `number`; returns their end. More than 19 digits overflow; the caller must
/// count them.
inline const char* append_digits(const char* p, std::uint64_t& number) {
  for (;;) {
    const DigitChunk chunk = read_chunk(p);
    if (chunk.count == 0) return p;
    number = number * kPowersOfTen[static_cast<std::size_t>(chunk.count)] + chunk.value;
    p += chunk.count;
    if (chunk.count < 8) return p;
  }
}

}  // namespace sptile::formats
