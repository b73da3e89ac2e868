// RS-Tile (RSH-SpMM, section 3.2): 8x8 bitmap tiles for coherent rows (TC part), and short rows without row
// pointers (residual part). Windows of 8 rows may start at any row; very long ones are split into pieces.
#pragma once

#include <cstdint>
#include <span>

#include "formats/layout/format_layout.hpp"

namespace sptile::formats {

extern const FormatLayout kRsTileLayout;

/// Bit of window_flags: the window is one piece of a split long window. The pieces have the same
/// row_window_id and are consecutive.
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

/// Typed access to the arrays: W windows (each piece counts), T tiles, R residual rows, tau the largest
/// class.
struct RsTileView {
  std::int64_t rows = 0, cols = 0, nnz = 0;
  // TC part.
  std::span<const std::int32_t>
      row_window_id;  ///< W: first row of the window; ascending, equal only among pieces
  std::span<const std::int32_t> row_window_offset;  ///< W + 1: first tile of each window
  std::span<const std::int64_t> value_offset;       ///< W + 1: first nonzero of each window
  std::span<const std::uint8_t> window_flags;       ///< W
  std::span<const std::uint64_t> bitmap;            ///< T: bit 8 * row + column of the tile
  std::span<const std::int32_t> col_id;             ///< 8 T: original column of each tile column
  ArrayView values;                                 ///< nonzeros of the TC part, in bit order
  // Residual part.
  std::span<const std::int32_t> residual_row_id;  ///< R: row ids sorted by nonzeros per row, then by id
  std::span<const std::int32_t>
      residual_class_offset;  ///< tau + 2: rows [offset[c], offset[c + 1]) have c nonzeros each (class c)
  std::span<const std::int32_t> residual_col_id;  ///< columns of the residual nonzeros, row by row
  ArrayView residual_values;
};

/// Returns typed views of the arrays; valid after check_lengths.
RsTileView as_rs_tile(const FormatView& view);

}  // namespace sptile::formats
