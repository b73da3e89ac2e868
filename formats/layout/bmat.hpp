// BMat (Voltrix-SpMM, USENIX ATC 2025): windows of 16 rows, tiles of 16x8 as four 8x4 words in the register
// order of mma.m16n8k8. Word w covers rows 8*(w%2)..+7 and columns 4*(w/2)..+3; bit 4*(row%8) + col%4 is the
// lane.
#pragma once

#include <cstdint>
#include <span>

#include "formats/layout/format_layout.hpp"

namespace sptile::formats {

extern const FormatLayout kBmatLayout;

/// Positions of the arrays in FormatView::arrays.
enum class BmatArray : int { row_window_offset, value_offset, bits, col_id, values };

/// Typed access to the arrays: W windows, T tiles.
struct BmatView {
  std::int64_t rows = 0, cols = 0, nnz = 0;
  std::span<const std::int32_t> row_window_offset;  ///< W + 1: first tile of each window
  std::span<const std::int64_t> value_offset;       ///< W + 1: first nonzero of each window
  std::span<const std::uint32_t> bits;              ///< 4 T: the words of each tile
  std::span<const std::int32_t> col_id;             ///< 8 T: original column of each tile column
  ArrayView values;                                 ///< nnz, word by word in bit order; absent for a pattern
};

/// Returns typed views of the arrays; valid after check_lengths.
BmatView as_bmat(const FormatView& view);

}  // namespace sptile::formats
