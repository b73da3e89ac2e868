// Positions of the operands of a consumer warp's lanes in a stage in shared memory: constexpr functions,
// which the kernel and the host tests share. Contents of a lane: collective/lanes.hpp.
//
// Rows of B that lanes load lie `pitch` bytes apart, 16 more than the row has. A 16-byte load is served for 8
// lanes at a time, from 8 banks of 16 bytes: lanes 4g + t for two g and four t. They read rows 2t of a group
// (then rows 2t + 1), so their banks are (2t * pitch / 16 + g) mod 8, and a pitch of 16 * (8 k + 1) makes
// that 2t + g: all different, and every row starts at a multiple of 16 bytes.
#pragma once

#include "runtime/cuda/collective/lanes.hpp"

namespace sptile::runtime::cuda {

inline constexpr int kTallSegmentBytes = 128;

/// Returns the byte offset of a lane in the rows of B of a stage: group of the chunk, k (0, 1) of its two
/// columns, segment.
SPTILE_HOST_DEVICE constexpr int tall_fragment_at(int lane, int group, int k, int segment, int pitch) {
  return (8 * group + row_major_column(lane, k)) * pitch + segment * kTallSegmentBytes +
         lane_group(lane) * 16;
}

/// Returns the element of an entry in the dense tiles of a chunk: K-major core matrices of 8 rows by 16 bytes
/// (PTX ISA, wgmma without swizzling). A tile of 32-bit elements has two: first its even columns, which are
/// those of the first row of B that a lane loads, then its odd ones. A tile of 16-bit elements is one.
SPTILE_HOST_DEVICE constexpr int tall_dense_at(int element_bytes, int group, int sub_window, int sub_windows,
                                               int row, int column) {
  const int tile = 64 * (group * sub_windows + sub_window);
  return element_bytes == 2 ? tile + row * 8 + column : tile + column % 2 * 32 + row * 4 + column / 2;
}

/// Returns the byte offset of 16 bytes of a row of B in a stage with swizzled rows: blocks of kSwizzledBytes
/// for the segments of 8 rows, then those of the next 8.
SPTILE_HOST_DEVICE constexpr int tall_swizzled_at(int row, int piece, int slice_segments) {
  return (row / 8 * slice_segments + piece / 8) * kSwizzledBytes + row % 8 * kTallSegmentBytes +
         16 * swizzled_piece(row, piece % 8);
}

/// Returns the row of the window that a lane stores if tiles are the first operand of wgmma: row r, 0 or 1,
/// of a block of 64 rows.
SPTILE_HOST_DEVICE constexpr int tall_upright_row(int warp, int lane, int block, int r) {
  return 64 * block + 16 * warp + 8 * r + lane_group(lane);
}
/// Returns the first of the four adjacent columns, of each 16, that a lane stores then.
SPTILE_HOST_DEVICE constexpr int tall_upright_column(int lane) {
  return 8 * (lane_member(lane) % 2) + 4 * (lane_member(lane) / 2);
}

/// Masks with which a lane finds its two nonzeros in a row-major 8x8 mask: bits 2 * lane and 2 * lane + 1,
/// both in one half of the mask.
struct TallHalf {
  bool high;            ///< the half with the lane's bits
  std::uint32_t below;  ///< mask of the bits of that half before the lane's
  int shift;            ///< position of the lane's bits in that half
};
SPTILE_HOST_DEVICE constexpr TallHalf tall_half(int lane) {
  const int shift = 2 * (lane % 16);
  return {lane >= 16, (1u << shift) - 1u, shift};
}

/// Equivalent to row_major_pair, with fewer registers.
SPTILE_HOST_DEVICE constexpr LanePair tall_pair(std::uint32_t low, std::uint32_t high, const TallHalf& half) {
  const std::uint32_t mine = half.high ? high : low;
  const std::uint32_t before = count_bits(mine & half.below) + (half.high ? count_bits(low) : 0u);
  const std::uint32_t two = mine >> half.shift;
  return {{before, before + (two & 1u)}, {(two & 1u) != 0, (two & 2u) != 0}};
}

/// Returns the first element of the 16-byte piece that contains element `first`.
template <class T>
SPTILE_HOST_DEVICE constexpr T aligned_down(T first, int element_bytes) {
  return first - first % static_cast<T>(16 / element_bytes);
}

/// Returns the number of 16-byte pieces that contain `count` elements from `first` on.
template <class T>
SPTILE_HOST_DEVICE constexpr T pieces_of(T first, T count, int element_bytes) {
  const T elements = static_cast<T>(16 / element_bytes);
  return count == 0 ? 0 : (first % elements + count + elements - 1) / elements;
}

}  // namespace sptile::runtime::cuda
