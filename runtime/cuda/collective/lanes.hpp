// Lane mappings of tile products: the elements of a fragment that each lane of a warp holds. The functions
// are constexpr, so that kernels and host tests share them.
//
// Tile products are computed transposed ("swap and transpose", FlashSparse, PPoPP 2025, section 3.2). The
// transposed dense rows are the first operand of mma.m16n8k8 (16 features x 8 tile columns). The transposed
// sparse 8x8 tile is the second operand (8 tile columns x 8 rows). By the PTX ISA, lane 4 * g + t holds
//   of the first operand   rows g and g + 8, k = t and t + 4 (32-bit types) or 2t and 2t + 1 (16-bit types),
//   of the second operand  the same two k, column g,
//   of the result          rows g and g + 8, columns 2t and 2t + 1.
// The order of k and of the features is free if both operands agree. It is chosen for wide loads: the two k
// of a lane are the adjacent tile columns 2t and 2t + 1, and the MMA rows g and g + 8 of MMA j are features
// 2j and 2j + 1 of the E consecutive ones that the lane loaded.
#pragma once

#include <cstdint>

#include "runtime/cuda/device/qualifiers.hpp"

namespace sptile::runtime::cuda {

/// Threads of a warp.
inline constexpr int kWarpSize = 32;

/// Returns the lane's group, 0 to 7: the tile row of its nonzeros, and the position of its E features in a
/// segment.
SPTILE_HOST_DEVICE constexpr int lane_group(int lane) { return lane >> 2; }

/// Returns the lane's position in its group, 0 to 3. The lane loads the rows of B of two tile columns and
/// stores rows 2 * member and 2 * member + 1 of C.
SPTILE_HOST_DEVICE constexpr int lane_member(int lane) { return lane & 3; }

/// Returns the lane that loads the operands of `lane` if loads follow rows: 8 adjacent lanes load 128
/// consecutive bytes of one row of B, which takes one cache line lookup instead of four. Lane 4 * g + t
/// multiplies the elements that lane 8 * t + g loaded.
SPTILE_HOST_DEVICE constexpr int row_loader(int lane) { return 8 * lane_member(lane) + lane_group(lane); }
/// Returns the lane whose operands `lane` loads; the inverse of row_loader.
SPTILE_HOST_DEVICE constexpr int loaded_for(int lane) { return 4 * (lane & 7) + (lane >> 3); }

/// Returns the first of the E consecutive features of segment `s` that a lane loads and stores. A segment has
/// 8 * E features.
SPTILE_HOST_DEVICE constexpr int lane_feature(int lane, int s, int elements) {
  return (8 * s + lane_group(lane)) * elements;
}

/// Returns the tile row of the lane's result column `r`, 0 or 1.
SPTILE_HOST_DEVICE constexpr int lane_result_row(int lane, int r) { return 2 * lane_member(lane) + r; }

/// Returns the number of bits that are set.
SPTILE_HOST_DEVICE constexpr std::uint32_t count_bits(std::uint32_t x) {
#ifdef __CUDA_ARCH__
  return static_cast<std::uint32_t>(__popc(static_cast<int>(x)));
#else
  return static_cast<std::uint32_t>(__builtin_popcount(x));
#endif
}

/// Returns a mask of the bits below bit `n`, 0 <= n <= 32.
SPTILE_HOST_DEVICE constexpr std::uint32_t bits_below(int n) { return n >= 32 ? ~0u : (1u << n) - 1u; }

/// Returns the position of the highest bit that is set; x is not 0.
SPTILE_HOST_DEVICE constexpr int highest_bit(std::uint32_t x) {
#ifdef __CUDA_ARCH__
  return 31 - __clz(static_cast<int>(x));
#else
  return 31 - __builtin_clz(x);
#endif
}

/// Masks with which a lane finds its nonzeros in 8x8 tile masks.
struct LanePrefix {
  std::uint32_t low, high;  ///< bits of the two mask halves that precede the lane's bits
  int shift;                ///< position of the lane's first bit
};
SPTILE_HOST_DEVICE constexpr LanePrefix lane_prefix(int lane) {
  const int bit = 2 * lane;
  return {bits_below(bit < 32 ? bit : 32), bits_below(bit < 32 ? 0 : bit - 32), bit};
}

/// A lane's two nonzeros, in the order of the values of their tile.
struct LanePair {
  std::uint32_t index[2];  ///< position among the values of the tile; undefined if absent
  bool present[2];
};

/// Finds tile columns 2t and 2t + 1 of row g in an 8x8 mask with bit 8 * row + column, given as two halves.
/// These are bits 2 * lane and 2 * lane + 1, so both share one prefix count.
SPTILE_HOST_DEVICE constexpr LanePair row_major_pair(std::uint32_t low, std::uint32_t high,
                                                     const LanePrefix& prefix) {
  const std::uint32_t before = count_bits(low & prefix.low) + count_bits(high & prefix.high);
  const auto two = static_cast<std::uint32_t>((std::uint64_t{high} << 32 | low) >> prefix.shift);
  return {{before, before + (two & 1u)}, {(two & 1u) != 0, (two & 2u) != 0}};
}

/// Returns the tile column of the k-th row of B that the lane loads if masks are row-major.
SPTILE_HOST_DEVICE constexpr int row_major_column(int lane, int k) { return 2 * lane_member(lane) + k; }

/// Returns whether the lane has a nonzero in a word of bmat. Bit 4 * row + column belongs to the lane of the
/// same number; `bit` is 1 << lane.
SPTILE_HOST_DEVICE constexpr bool word_present(std::uint32_t word, std::uint32_t bit) {
  return (word & bit) != 0;
}
/// Returns the position of the lane's nonzero among those of the word.
SPTILE_HOST_DEVICE constexpr std::uint32_t word_index(std::uint32_t word, std::uint32_t bit) {
  return count_bits(word & (bit - 1u));
}

/// Returns the tile column of the k-th row of B that the lane loads if masks are words of bmat.
SPTILE_HOST_DEVICE constexpr int word_column(int lane, int k) { return lane_member(lane) + 4 * k; }

/// Bytes of a block of 8 rows of 128 bytes in shared memory whose 16-byte pieces are permuted
/// (swizzled_piece). It starts at a multiple of its size.
inline constexpr int kSwizzledBytes = 1024;

/// Returns the position of a piece of 16 bytes, 0 to 7, in row `row` of a block: pieces of one column are in
/// different banks.
SPTILE_HOST_DEVICE constexpr int swizzled_piece(int row, int piece) { return piece ^ row % 8; }

}  // namespace sptile::runtime::cuda
