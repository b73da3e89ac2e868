// libra_spmm and libra_sddmm (Libra, section 4.2): windows of 8 rows. Dense columns are stored as 8x8 bitmap
// tiles for tensor cores (TC part), all other nonzeros by row for CUDA cores (residual part). Both formats
// have the same arrays. In libra_spmm the columns of a window's tiles ascend; in libra_sddmm they are in any
// order, and two consecutive tiles form an 8x16 block.
#pragma once

#include <cstdint>
#include <span>

#include "formats/layout/format_layout.hpp"

namespace sptile::formats {

extern const FormatLayout kLibraSpmmLayout, kLibraSddmmLayout;

/// Positions of the arrays in FormatView::arrays.
enum class LibraArray : int {
  row_window_offset,
  tc_offset,
  bitmap,
  col_id,
  values,
  residual_row_id,
  residual_row_offset,
  residual_col_id,
  residual_values
};

/// Typed access to the arrays: W windows, T tiles, R rows with residual nonzeros.
struct LibraView {
  std::int64_t rows = 0, cols = 0, nnz = 0;
  // TC part, as in bittcf.
  std::span<const std::int32_t> row_window_offset;  ///< W + 1: first tile of each window
  std::span<const std::uint32_t> tc_offset;  ///< T + 1: position in `values` of each tile's first nonzero
  std::span<const std::uint64_t> bitmap;     ///< T: bit 8 * row + column of the tile
  std::span<const std::int32_t> col_id;      ///< 8 T: original column of each tile column
  ArrayView values;                          ///< nonzeros of the TC part, in bit order
  // Residual part.
  std::span<const std::int32_t> residual_row_id;      ///< R: row ids, ascending
  std::span<const std::int64_t> residual_row_offset;  ///< R + 1: first nonzero of each of these rows
  std::span<const std::int32_t> residual_col_id;      ///< columns of the nonzeros of these rows, row by row
  ArrayView residual_values;
};

/// Returns typed views of the arrays of either format; valid after check_lengths.
LibraView as_libra(const FormatView& view);

}  // namespace sptile::formats
