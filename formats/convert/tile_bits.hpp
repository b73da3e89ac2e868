// Tiles as 8x8 bit masks (bit 8 * row + column), and copies of values in bit order.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace sptile::formats {

/// Eight rows of a tile whose values are contiguous, in bit order. A tile of a format is a list of parts; the
/// value orders of the formats differ only in the choice and order of the parts.
struct TilePart {
  std::uint64_t mask;
  int first_row;  ///< row in the window: 0 or 8
};

/// Transposes an 8x8 bit matrix: bit 8 * r + c becomes bit 8 * c + r.
constexpr std::uint64_t transpose_bits(std::uint64_t x) {
  const auto swap = [&x](int distance, std::uint64_t mask) {
    const std::uint64_t t = (x ^ (x >> distance)) & mask;
    x ^= t ^ (t << distance);
  };
  swap(7, 0x00AA00AA00AA00AA);
  swap(14, 0x0000CCCC0000CCCC);
  swap(28, 0x00000000F0F0F0F0);
  return x;
}

/// Number of set bits of each byte.
inline constexpr std::array<std::uint8_t, 256> kBitsOfByte = [] {
  std::array<std::uint8_t, 256> bits{};
  for (unsigned i = 0; i < 256; ++i) bits[i] = static_cast<std::uint8_t>(std::popcount(i));
  return bits;
}();

/// Copies the values of one part: each bit takes the next value of its row. rows[r] points to the next value
/// of row r and is advanced. Returns the end of the output.
template <class Word>
Word* copy_values(std::uint64_t mask, const Word** rows, Word* out) {
  for (; mask != 0; mask &= mask - 1) *out++ = *rows[std::countr_zero(mask) / 8]++;
  return out;
}

/// Works like copy_values, but faster: copies runs with a fixed length of 8 words. Requires that 8 words of
/// each row are readable and 64 words of `out` are writable.
template <class Word>
Word* copy_values_in_runs(std::uint64_t mask, const Word** rows, Word* out) {
  for (int r = 0; r < 8; ++r) {
    std::memcpy(out, rows[r], 8 * sizeof(Word));
    const int count = kBitsOfByte[mask >> (8 * r) & 0xFF];
    out += count;
    rows[r] += count;
  }
  return out;
}

}  // namespace sptile::formats
