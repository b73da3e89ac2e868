// Which elements of a tile product a lane of a warp holds. Plain constexpr functions, so that the kernels and
// the host tests use the same ones.
//
// The tile product is computed transposed ("swap and transpose", FlashSparse, PPoPP 2025, section 3.2): the
// dense rows, transposed, are the first operand of mma.m16n8k8 (16 features x 8 tile columns), the sparse 8x8
// tile, transposed, is the second (8 tile columns x 8 rows). The PTX ISA gives lane 4 * g + t
//   of the first operand   rows g and g + 8, k = t and t + 4 (32-bit types) or 2t and 2t + 1 (16-bit types)
//   of the second operand  the same two k, column g
//   of the result          rows g and g + 8, columns 2t and 2t + 1.
// Neither the order of k nor that of the features matters as long as both operands agree, and both are chosen
// so that memory is read in wide pieces: the two k of a lane are the adjacent tile columns 2t and 2t + 1, and
// the MMA rows g and g + 8 of the MMA j are the features 2j and 2j + 1 of the E consecutive ones that the
// lane loaded.
#pragma once

#include <cstdint>

#include "runtime/cuda/device/qualifiers.hpp"

namespace sptile::runtime::cuda {

inline constexpr int kWarp = 32;

/// Number of the lane's group, 0..7: the row of the tile whose entries it holds, and which E features of a
/// segment it loads and stores.
SPTILE_HOST_DEVICE constexpr int lane_group(int lane) { return lane >> 2; }

/// Number of the lane in its group, 0..3: it loads the B rows of two tile columns and stores the C rows
/// 2 * member and 2 * member + 1.
SPTILE_HOST_DEVICE constexpr int lane_member(int lane) { return lane & 3; }

/// Which lane loads for which, when loads are made by rows: 8 neighbouring lanes load 128 consecutive bytes
/// of one B row, so that the cache looks up one line for them, not four. What lane 8 * t + g loaded is what
/// lane 4 * g + t multiplies.
SPTILE_HOST_DEVICE constexpr int row_loader(int lane) { return 8 * lane_member(lane) + lane_group(lane); }
/// The lane for which `lane` loads.
SPTILE_HOST_DEVICE constexpr int loaded_for(int lane) { return 4 * (lane & 7) + (lane >> 3); }

/// First of the E consecutive features of segment `s` that a lane loads and stores; a segment has 8 * E.
SPTILE_HOST_DEVICE constexpr int lane_feature(int lane, int s, int elements) {
  return (8 * s + lane_group(lane)) * elements;
}

/// Row of the tile in which result column `r` (0 or 1) of the lane stands.
SPTILE_HOST_DEVICE constexpr int lane_result_row(int lane, int r) { return 2 * lane_member(lane) + r; }

SPTILE_HOST_DEVICE constexpr std::uint32_t count_bits(std::uint32_t x) {
#ifdef __CUDA_ARCH__
  return static_cast<std::uint32_t>(__popc(static_cast<int>(x)));
#else
  return static_cast<std::uint32_t>(__builtin_popcount(x));
#endif
}

/// Mask of the bits below bit `n`, 0 <= n <= 32.
SPTILE_HOST_DEVICE constexpr std::uint32_t bits_below(int n) { return n >= 32 ? ~0u : (1u << n) - 1u; }

/// What a lane keeps for finding its entries in 8x8 masks.
struct LanePrefix {
  std::uint32_t low, high;  ///< bits of the two halves of a mask that stand before the lane's
  int shift;                ///< of the lane's bits
};
SPTILE_HOST_DEVICE constexpr LanePrefix lane_prefix(int lane) {
  const int bit = 2 * lane;
  return {bits_below(bit < 32 ? bit : 32), bits_below(bit < 32 ? 0 : bit - 32), bit};
}

/// Two entries of a lane in the order of the values of their tile.
struct LanePair {
  std::uint32_t index[2];  ///< position among the entries of the tile; meaningless when absent
  bool present[2];
};

/// Finds tile columns 2t and 2t + 1 of row g in an 8x8 mask with bit 8 * row + column, given as two halves:
/// they are bits 2 * lane and 2 * lane + 1, so one prefix count serves both.
SPTILE_HOST_DEVICE constexpr LanePair row_major_pair(std::uint32_t low, std::uint32_t high,
                                                     const LanePrefix& prefix) {
  const std::uint32_t before = count_bits(low & prefix.low) + count_bits(high & prefix.high);
  const auto two = static_cast<std::uint32_t>((std::uint64_t{high} << 32 | low) >> prefix.shift);
  return {{before, before + (two & 1u)}, {(two & 1u) != 0, (two & 2u) != 0}};
}

/// Tile columns whose B rows the lane loads when masks are row-major.
SPTILE_HOST_DEVICE constexpr int row_major_column(int lane, int k) { return 2 * lane_member(lane) + k; }

/// Finds the entry of a lane in a word of bmat: bit 4 * row + column is the lane itself. `bit` is 1 << lane.
SPTILE_HOST_DEVICE constexpr bool word_present(std::uint32_t word, std::uint32_t bit) {
  return (word & bit) != 0;
}
SPTILE_HOST_DEVICE constexpr std::uint32_t word_index(std::uint32_t word, std::uint32_t bit) {
  return count_bits(word & (bit - 1u));
}

/// Tile columns whose B rows the lane loads when masks are in the words of bmat.
SPTILE_HOST_DEVICE constexpr int word_column(int lane, int k) { return lane_member(lane) + 4 * k; }

}  // namespace sptile::runtime::cuda
