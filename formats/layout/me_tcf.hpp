// ME-TCF (DTC-SpMM, ASPLOS 2024, section 4.1): windows of 16 rows, tiles of 16x8, one byte per nonzero.
#pragma once

#include <cstdint>
#include <span>

#include "formats/layout/format_layout.hpp"

namespace sptile::formats {

extern const FormatLayout kMeTcfLayout;

/// Positions of the arrays in FormatView::arrays.
enum class MeTcfArray : int { row_window_offset, tc_offset, tc_local_id, sparse_a_to_b, values };

/// Typed access to the arrays: W windows, T tiles.
struct MeTcfView {
  std::int64_t rows = 0, cols = 0, nnz = 0;
  std::span<const std::int32_t> row_window_offset;  ///< W + 1: first tile of each window
  std::span<const std::uint32_t> tc_offset;         ///< T + 1: first nonzero of each tile
  std::span<const std::uint8_t>
      tc_local_id;  ///< nnz: 8 * row + column inside the 16x8 tile, ascending per tile
  std::span<const std::int32_t> sparse_a_to_b;  ///< 8 T: original column of each tile column
  ArrayView values;                             ///< nnz, row by row inside a tile; absent for a pattern
};

/// Returns typed views of the arrays; valid after check_lengths.
MeTcfView as_me_tcf(const FormatView& view);

}  // namespace sptile::formats
