// bitwin, a toy format: windows of 8 rows, tiles of 8x8, one 64-bit mask per tile, entries counted per
// window.
#pragma once

#include <cstdint>
#include <span>

#include "formats/layout/format_layout.hpp"

namespace sptile::formats {

extern const FormatLayout kBitwinLayout;

/// Indices of the arrays in FormatView::arrays.
enum class BitwinArray : int { row_window_offset, value_offset, bitmap, col_id, values };

/// Typed access to the arrays. W windows, T tiles.
struct BitwinView {
  std::int64_t rows = 0, cols = 0, nnz = 0;
  std::span<const std::int32_t> row_window_offset;  ///< W + 1: first tile of each window
  std::span<const std::int64_t> value_offset;       ///< W + 1: first entry of each window
  std::span<const std::uint64_t> bitmap;            ///< T: bit 8 * row + column of the tile
  std::span<const std::int32_t> col_id;             ///< 8 T: original column of each tile column
  ArrayView values;                                 ///< nnz, in bit order; not present for a pattern
};

/// Returns typed access; valid after check_lengths.
BitwinView as_bitwin(const FormatView& view);

}  // namespace sptile::formats
