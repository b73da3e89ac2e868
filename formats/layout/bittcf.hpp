// BitTCF (Acc-SpMM, PPoPP 2025, section 3.3): windows of 8 rows, tiles of 8x8, one 64-bit mask per tile.
#pragma once

#include <cstdint>
#include <span>

#include "formats/layout/format_layout.hpp"

namespace sptile::formats {

extern const FormatLayout kBitTcfLayout;

/// Positions of the arrays in FormatView::arrays.
enum class BitTcfArray : int { row_window_offset, tc_offset, tc_local_bit, sparse_a_to_b, values };

/// Typed access to the arrays: W windows, T tiles.
struct BitTcfView {
  std::int64_t rows = 0, cols = 0, nnz = 0;
  std::span<const std::int32_t> row_window_offset;  ///< W + 1: first tile of each window
  std::span<const std::uint32_t> tc_offset;     ///< T + 1: position in `values` of each tile's first nonzero
  std::span<const std::uint64_t> tc_local_bit;  ///< T: bit 8 * row + column of the tile
  std::span<const std::int32_t> sparse_a_to_b;  ///< 8 T: original column of each tile column
  ArrayView values;                             ///< nnz, in bit order; absent for a pattern
};

/// Returns typed views of the arrays; valid after check_lengths.
BitTcfView as_bittcf(const FormatView& view);

}  // namespace sptile::formats
