// Density of tiles for a row order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/core/csr_view.hpp"

namespace sptile::reorder {

inline constexpr int kQualityHeights[] = {8, 16, 32, 64, 128};

/// Measures of one window height.
struct WindowQuality {
  int window_rows = 0;
  std::int64_t distinct_columns = 0;  ///< summed over windows
  std::int64_t tc_blocks = 0;         ///< sum of ceil(distinct columns / 8)
  double mean_nnz_tc = 0;             ///< nonzeros / tc_blocks; 0 without blocks
  double nnz1_ratio = 0;              ///< fraction of the distinct columns with exactly one nonzero
};

/// Measures windows of one height, at least 1, in the order `new_to_old` (empty: original order). O(nnz),
/// parallel; 4 bytes per column (see CompactColumns) and thread.
WindowQuality measure_windows(const formats::CsrView& a, std::span<const std::int32_t> new_to_old,
                              int height);

/// Sums of ceil(distinct columns / 8) over windows of a height, and of twice that height.
struct BlockCounts {
  std::int64_t blocks = 0, twice = 0;
  friend BlockCounts operator+(BlockCounts a, BlockCounts b) {
    return {a.blocks + b.blocks, a.twice + b.twice};
  }
};

/// Counts both in one pass, faster than measure_windows. `new_to_old` may be empty: original order.
BlockCounts count_blocks(const formats::CsrView& a, std::span<const std::int32_t> new_to_old, int height);

/// Measures every height of kQualityHeights.
std::vector<WindowQuality> measure_quality(const formats::CsrView& a,
                                           std::span<const std::int32_t> new_to_old = {});

}  // namespace sptile::reorder
