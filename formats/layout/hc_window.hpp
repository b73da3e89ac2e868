// hc_window (HyGNN, section 4.1): windows of 16 rows, each stored either as 16x8 bitmap tiles for tensor
// cores or by row for CUDA cores, so that each row of the result is written once.
#pragma once

#include <cstdint>
#include <span>

#include "formats/layout/format_layout.hpp"

namespace sptile::formats {

extern const FormatLayout kHcWindowLayout;

/// Positions of the arrays in FormatView::arrays.
enum class HcWindowArray : int {
  row_window_offset,
  tc_offset,
  bitmap,
  col_id,
  values,
  row_id,
  row_offset,
  row_col_id,
  row_values
};

/// Typed access to the arrays: W windows, T tiles, R nonempty rows in windows without tiles.
struct HcWindowView {
  std::int64_t rows = 0, cols = 0, nnz = 0;
  // Windows for tensor cores.
  std::span<const std::int32_t> row_window_offset;  ///< W + 1: first tile of each window
  std::span<const std::uint32_t> tc_offset;  ///< T + 1: position in `values` of each tile's first nonzero
  std::span<const std::uint64_t> bitmap;     ///< 2 T: rows 0 to 7, then 8 to 15; bit 8 * (row % 8) + column
  std::span<const std::int32_t> col_id;      ///< 8 T: original column of each tile column
  ArrayView values;                          ///< nonzeros of the tiles, in bit order
  // Windows for CUDA cores.
  std::span<const std::int32_t> row_id;      ///< R: row ids, ascending
  std::span<const std::int64_t> row_offset;  ///< R + 1: first nonzero of each of these rows
  std::span<const std::int32_t> row_col_id;  ///< columns of the nonzeros of these rows, row by row
  ArrayView row_values;
};

/// Returns typed views of the arrays; valid after check_lengths.
HcWindowView as_hc_window(const FormatView& view);

}  // namespace sptile::formats
