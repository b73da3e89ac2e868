// The geometry of a matrix, whatever its format: tiles of 8 columns in windows of rows, and entries that
// stand in rows. Counts, divisions of work, schedules and rooflines read it, and know no format.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "formats/layout/format_layout.hpp"

namespace sptile::formats {

/// Entries that stand in rows: all of csr, the residual part of others. Entry by entry in `columns`.
struct BlockRows {
  std::span<const std::int32_t> ids;  ///< of each row; empty where all rows of the matrix are there in order
  std::span<const std::int64_t> offset;  ///< rows + 1: first entry of each; empty where there are classes
  /// Rows [class_offset[c], class_offset[c + 1]) have c entries each; empty where there are offsets.
  std::span<const std::int32_t> class_offset;
  std::span<const std::int32_t> columns;

  [[nodiscard]] std::int64_t size() const {
    return offset.empty() ? std::ssize(ids) : std::ssize(offset) - 1;
  }
};

/// How windows stand.
enum class WindowPlacement {
  none,       ///< all entries stand in rows
  regular,    ///< one behind the other, all of the same height
  varied,     ///< one behind the other, heights differ
  scattered,  ///< anywhere, all of the same height; rows may be in none, windows in pieces
};

/// Where everything of a matrix stands; borrows the arrays of its format. What is said here of tiles is true
/// of the groups of `tall`, which share 8 columns among all 8x8 tiles of a window of any height. Every format
/// with tiles has `tile_value` or `window_value`.
///
/// Contents of a matrix that was not checked may be anything: then use sizes only. Where an array is not in
/// host memory (a plan of a matrix that was converted on a device fetches no columns), sizes are right, too.
struct Blocks {
  WindowPlacement placement = WindowPlacement::none;
  int window_rows = 0;                        ///< of a window; 0 where they differ, or where there are none
  std::span<const std::int32_t> tile_offset;  ///< windows + 1: first tile of each; empty where there are none
  /// First row of each window, with varied ones also the end; empty for regular ones. Scattered windows next
  /// to each other with the same first row are pieces of one.
  std::span<const std::int32_t> first_row;
  std::span<const std::int32_t> columns;       ///< 8 per tile
  std::span<const std::uint32_t> tile_value;   ///< 8x8 or 16x8 tiles + 1: first entry of each
  std::span<const std::int32_t> group_tile;    ///< tiles + 1: where tile_value has the first one of a group
  std::span<const std::int64_t> window_value;  ///< windows + 1: first entry of each
  const std::byte* masks = nullptr;  ///< mask_bytes per tile, a bit per entry; may be null without tiles
  int mask_bytes = 0;                ///< 8 or 16; 0: there are no masks, tile_value counts
  BlockRows rows;

  /// True where bits say which places of a tile hold an entry.
  [[nodiscard]] bool has_masks() const { return mask_bytes != 0; }
  [[nodiscard]] std::int64_t windows() const { return tile_offset.empty() ? 0 : std::ssize(tile_offset) - 1; }
  [[nodiscard]] std::int64_t tiles() const { return std::ssize(columns) / 8; }
  /// Rows of B that a product asks for: one for each column of a tile, one for each entry in a row.
  [[nodiscard]] std::int64_t fetches() const { return std::ssize(columns) + std::ssize(rows.columns); }

  /// First row of a window.
  [[nodiscard]] std::int64_t row_of(std::int64_t window) const {
    return placement == WindowPlacement::regular ? window_rows * window
                                                 : first_row[static_cast<std::size_t>(window)];
  }
  /// First entry of a window, among those in tiles; for windows() their number.
  [[nodiscard]] std::int64_t first_value(std::int64_t window) const {
    const auto w = static_cast<std::size_t>(window);
    return tile_value.empty() ? window_value[w] : counted_value(tile_offset[w]);
  }
  /// First entry of a tile; for tiles() their number. O(1) where tiles have offsets, else O(log windows) and
  /// the tiles of the window in front of it.
  [[nodiscard]] std::int64_t first_value_of_tile(std::int64_t tile) const {
    return tile_value.empty() ? summed_value(tile) : counted_value(tile);
  }
  /// Entries of a tile.
  [[nodiscard]] std::int64_t tile_values(std::int64_t tile) const {
    return has_masks() ? mask_values(tile) : counted_value(tile + 1) - counted_value(tile);
  }
  /// True for a window that continues the one in front of it.
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

/// The geometry of a matrix; see FormatLayout::blocks.
inline Blocks blocks_of(const FormatView& view) { return view.layout->blocks(view); }

/// First entry of each row, and the end, whether rows have offsets or classes. O(rows).
std::vector<std::int64_t> row_offsets(const BlockRows& rows);

}  // namespace sptile::formats
