// Tall windows: up to 128 rows share one list of distinct columns. Columns used by the same sub-windows of 8
// rows are adjacent, so that 8x8 tiles are dense; empty tiles are not stored.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "formats/layout/format_layout.hpp"

namespace sptile::formats {

extern const FormatLayout kTallLayout;

inline constexpr int kTallMaxRows = 128;                     ///< maximum rows per window
inline constexpr int kTallMaxSubWindows = kTallMaxRows / 8;  ///< bits of a group's mask

/// Positions of the arrays in FormatView::arrays.
enum class TallArray : int {
  window_row,
  window_group_offset,
  group_mask,
  group_tile_offset,
  col_id,
  bitmap,
  value_offset,
  values
};

/// Typed access to the arrays: W windows, G groups of 8 columns, T tiles of 8x8.
struct TallView {
  std::int64_t rows = 0, cols = 0, nnz = 0;
  std::span<const std::int32_t> window_row;           ///< W + 1: first row of each window
  std::span<const std::int32_t> window_group_offset;  ///< W + 1: first group of each window
  std::span<const std::uint32_t> group_mask;          ///< G: bit s is set if sub-window s has a tile
  std::span<const std::int32_t> group_tile_offset;    ///< G + 1: first tile of each group
  std::span<const std::int32_t> col_id;               ///< 8 G: original column of each column of a group
  std::span<const std::uint64_t> bitmap;              ///< T: bit 8 * row + column of the tile
  std::span<const std::uint32_t> value_offset;        ///< T + 1: first nonzero of each tile
  ArrayView values;                                   ///< nnz, in bit order; absent for a pattern

  [[nodiscard]] std::int64_t windows() const { return static_cast<std::int64_t>(window_row.size()) - 1; }
  /// Returns the number of sub-windows of a window; the last one may have fewer rows.
  [[nodiscard]] int sub_windows(std::int64_t window) const {
    const auto w = static_cast<std::size_t>(window);
    return (window_row[w + 1] - window_row[w] + 7) / 8;
  }
  /// Returns the tile of a sub-window in a group; requires that bit `sub_window` of the group's mask is set.
  [[nodiscard]] std::int64_t tile(std::int64_t group, int sub_window) const {
    const auto g = static_cast<std::size_t>(group);
    return group_tile_offset[g] + std::popcount(group_mask[g] & ((1u << sub_window) - 1));
  }
};

/// Returns typed views of the arrays; valid after check_lengths.
TallView as_tall(const FormatView& view);

/// Places the sorted groups of a window at 0, 1/2, 1/4, 3/4, ... of the list (bit-reversed order). Sorted
/// groups start with the low sub-windows and end with the high ones; after this permutation, any few adjacent
/// groups contain work for all sub-windows.
class BitReversedOrder {
 public:
  explicit BitReversedOrder(std::int64_t groups)
      : groups_(static_cast<std::uint64_t>(groups)),
        bits_(groups > 1 ? static_cast<int>(std::bit_width(groups_ - 1)) : 0) {}

  /// Returns the index in the sorted list of the group at the next place; call once per group.
  std::int64_t next() {
    std::uint64_t sorted = groups_;
    while (sorted >= groups_) sorted = reverse(counter_++);
    return static_cast<std::int64_t>(sorted);
  }

 private:
  [[nodiscard]] std::uint64_t reverse(std::uint64_t x) const {
    std::uint64_t y = 0;
    for (int b = 0; b < bits_; ++b) y |= (x >> b & 1) << (bits_ - 1 - b);
    return y;
  }

  std::uint64_t groups_, counter_ = 0;
  int bits_;
};

}  // namespace sptile::formats
