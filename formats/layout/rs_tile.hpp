// RS-Tile (RSH-SpMM, section 3.2): 8x8 bitmap tiles for coherent rows (TC part), short rows without row
// pointers (residual part). Windows of 8 rows start anywhere; super-long ones are split in pieces.
#pragma once

#include <cstdint>
#include <span>

#include "formats/layout/format_layout.hpp"

namespace sptile::formats {

extern const FormatLayout kRsTileLayout;

/// Bit of window_flags: this window is one piece of a split super-long window; its rows are shared with the
/// neighbouring pieces, which have the same row_window_id and stand next to each other.
inline constexpr std::uint8_t kRsTileSplit = 1;

/// Positions of the arrays in FormatView::arrays.
enum class RsTileArray : int {
  row_window_id,
  row_window_offset,
  value_offset,
  window_flags,
  bitmap,
  col_id,
  values,
  residual_row_id,
  residual_class_offset,
  residual_col_id,
  residual_values
};

/// Typed access to the arrays. W windows (pieces counted one by one), T tiles, R residual rows, tau the
/// largest class.
struct RsTileView {
  std::int64_t rows = 0, cols = 0, nnz = 0;
  // TC part
  std::span<const std::int32_t>
      row_window_id;  ///< W: first row of the window; ascending, equal only among pieces
  std::span<const std::int32_t> row_window_offset;  ///< W + 1: first tile of each window
  std::span<const std::int64_t> value_offset;       ///< W + 1: first entry of each window
  std::span<const std::uint8_t> window_flags;       ///< W
  std::span<const std::uint64_t> bitmap;            ///< T: bit 8 * row + column of the tile
  std::span<const std::int32_t> col_id;             ///< 8 T: original column of each tile column
  ArrayView values;                                 ///< entries of the TC part, in bit order
  // residual part
  std::span<const std::int32_t> residual_row_id;  ///< R: sorted by number of entries, then by row
  std::span<const std::int32_t>
      residual_class_offset;  ///< tau + 2: class c is rows [offset[c], offset[c+1]) of R, c entries each
  std::span<const std::int32_t> residual_col_id;  ///< entries of the residual part, row after row
  ArrayView residual_values;
};

/// Gives typed access; valid after check_lengths.
RsTileView as_rs_tile(const FormatView& view);

}  // namespace sptile::formats
