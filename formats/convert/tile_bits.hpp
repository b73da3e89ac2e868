// Tiles as 8x8 bit masks (bit 8 * row + column), and how entries are moved in the order of their bits.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace sptile::formats {

/// Eight rows of a tile whose values stand together, in the order of their bits. A tile of a format is a list
/// of parts; which parts, in which order, is all that distinguishes the value orders of the formats.
struct TilePart {
  std::uint64_t mask;
  int first_row;  ///< of the window: 0 or 8
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

/// Number of bits of each byte.
inline constexpr std::array<std::uint8_t, 256> kBitsOfByte = [] {
  std::array<std::uint8_t, 256> bits{};
  for (unsigned i = 0; i < 256; ++i) bits[i] = static_cast<std::uint8_t>(std::popcount(i));
  return bits;
}();

/// Moves the values of one part: each bit takes the next value of its row. rows[r] points to the next value
/// of row r and moves on. Returns the end of the output.
template <class Word>
Word* take_values(std::uint64_t mask, const Word** rows, Word* out) {
  for (; mask != 0; mask &= mask - 1) *out++ = *rows[std::countr_zero(mask) / 8]++;
  return out;
}

/// The same, faster, where 8 words may be read from every row and 64 written to `out`, whatever is needed:
/// whole runs of a row are copied without asking how long they are.
template <class Word>
Word* take_values_with_room(std::uint64_t mask, const Word** rows, Word* out) {
  for (int r = 0; r < 8; ++r) {
    std::memcpy(out, rows[r], 8 * sizeof(Word));
    const int count = kBitsOfByte[mask >> (8 * r) & 0xFF];
    out += count;
    rows[r] += count;
  }
  return out;
}

}  // namespace sptile::formats
