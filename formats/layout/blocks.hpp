// Format-independent geometry of a matrix: 8-column tiles in row windows, and nonzeros stored by row.
// Statistics, work partitioning, schedules and rooflines use it and do not depend on formats.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "formats/layout/format_layout.hpp"

namespace sptile::formats {

/// Nonzeros stored by row: all of them in csr, the residual part in other formats. `columns` has one element
/// per nonzero.
struct BlockRows {
  std::span<const std::int32_t> ids;     ///< row id of each stored row; empty if all rows of the matrix are
                                         ///< stored in order
  std::span<const std::int64_t> offset;  ///< rows + 1: first nonzero of each row; empty if rows are in
                                         ///< classes
  /// Rows [class_offset[c], class_offset[c + 1]) have c nonzeros each; empty if `offset` is used.
  std::span<const std::int32_t> class_offset;
  std::span<const std::int32_t> columns;

  [[nodiscard]] std::int64_t size() const {
    return offset.empty() ? std::ssize(ids) : std::ssize(offset) - 1;
  }
};

/// Arrangement of the windows of a matrix.
enum class WindowPlacement {
  none,       ///< no windows: all nonzeros are stored by row
  regular,    ///< consecutive, equal heights
  varied,     ///< consecutive, different heights
  scattered,  ///< any first row, equal heights; rows may be in no window, windows may be split
};

/// Locations of all tiles and nonzeros of a matrix; borrows the arrays of its format. In `tall`, a tile here
/// is a group: 8 columns shared by all 8x8 tiles of a window of any height. Every format with tiles sets
/// `tile_value` or `window_value`.
///
/// If the contents of the matrix are unchecked, only the array sizes are valid. Sizes are also valid if an
/// array is not in host memory (a plan of a matrix converted on a device does not copy the columns back).
struct Blocks {
  WindowPlacement placement = WindowPlacement::none;
  int window_rows = 0;  ///< rows per window; 0 if heights differ or there are no windows
  std::span<const std::int32_t> tile_offset;  ///< windows + 1: first tile of each window; empty without tiles
  /// First row of each window, followed by the number of rows if placement is `varied`; empty if `regular`.
  /// Adjacent scattered windows with equal first rows are the pieces of one split window.
  std::span<const std::int32_t> first_row;
  std::span<const std::int32_t> columns;       ///< 8 per tile
  std::span<const std::uint32_t> tile_value;   ///< 8x8 or 16x8 tiles + 1: first nonzero of each tile
  std::span<const std::int32_t> group_tile;    ///< tiles + 1: index in tile_value of each group's first 8x8
                                               ///< tile
  std::span<const std::int64_t> window_value;  ///< windows + 1: first nonzero of each window
  const std::byte* masks = nullptr;  ///< mask_bytes per tile, one bit per position; may be null without tiles
  int mask_bytes = 0;                ///< 8 or 16; 0 if there are no masks and tile_value gives the counts
  BlockRows rows;

  /// Returns whether bit masks mark the nonzeros of each tile.
  [[nodiscard]] bool has_masks() const { return mask_bytes != 0; }
  [[nodiscard]] std::int64_t windows() const { return tile_offset.empty() ? 0 : std::ssize(tile_offset) - 1; }
  [[nodiscard]] std::int64_t tiles() const { return std::ssize(columns) / 8; }
  /// Returns the number of rows of B that SpMM loads: one per tile column and one per nonzero stored by row.
  [[nodiscard]] std::int64_t loads() const { return std::ssize(columns) + std::ssize(rows.columns); }

  /// Returns the first row of a window.
  [[nodiscard]] std::int64_t row_of(std::int64_t window) const {
    return placement == WindowPlacement::regular ? window_rows * window
                                                 : first_row[static_cast<std::size_t>(window)];
  }
  /// Returns the position of a window's first nonzero; for windows(), the number of nonzeros in tiles.
  [[nodiscard]] std::int64_t first_value(std::int64_t window) const {
    const auto w = static_cast<std::size_t>(window);
    return tile_value.empty() ? window_value[w] : counted_value(tile_offset[w]);
  }
  /// Returns the position of a tile's first nonzero; for tiles(), the number of nonzeros in tiles. O(1) if
  /// tiles have offsets, else O(log windows + tiles per window).
  [[nodiscard]] std::int64_t first_value_of_tile(std::int64_t tile) const {
    return tile_value.empty() ? summed_value(tile) : counted_value(tile);
  }
  /// Returns the number of nonzeros in tiles [tile, end). O(1) if tiles have offsets.
  [[nodiscard]] std::int64_t values_between(std::int64_t tile, std::int64_t end) const {
    if (!tile_value.empty()) return counted_value(end) - counted_value(tile);
    std::int64_t values = 0;
    for (; tile < end; ++tile) values += mask_values(tile);
    return values;
  }
  /// Returns whether a window is a further piece of the previous window.
  [[nodiscard]] bool continues(std::int64_t window) const {
    return window > 0 && row_of(window) == row_of(window - 1);
  }

 private:
  [[nodiscard]] std::int64_t counted_value(std::int64_t tile) const {
    const auto t = static_cast<std::size_t>(tile);
    return tile_value[group_tile.empty() ? t : static_cast<std::size_t>(group_tile[t])];
  }
  [[nodiscard]] std::int64_t mask_values(std::int64_t tile) const {
    std::uint64_t words[2] = {};
    std::memcpy(words, masks + tile * mask_bytes, static_cast<std::size_t>(mask_bytes));
    return std::popcount(words[0]) + std::popcount(words[1]);
  }
  [[nodiscard]] std::int64_t summed_value(std::int64_t tile) const;
};

/// Returns the geometry of a matrix; see FormatLayout::blocks.
inline Blocks blocks_of(const FormatView& view) { return view.layout->blocks(view); }

/// Returns the first nonzero of each row, followed by the number of nonzeros, from offsets or classes.
/// O(rows).
std::vector<std::int64_t> row_offsets(const BlockRows& rows);

}  // namespace sptile::formats
