// Distribution of the number of entries per row or column.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/core/csr_view.hpp"
#include "tools/cli/result.hpp"

namespace sptile::tools {

inline constexpr int kPercentiles[] = {1, 10, 25, 50, 75, 90, 99};

/// Number of lines with `min` to `max` entries.
struct LengthBin {
  std::int64_t min = 0, max = 0, lines = 0;
};

struct LineLengths {
  std::int64_t empty = 0, minimum = 0, maximum = 0;
  double mean = 0, deviation = 0;
  double above_2x_mean = 0, above_4x_mean = 0;  ///< share of the lines with more than 2 and 4 times the mean
  std::vector<std::int64_t> percentiles;        ///< at kPercentiles, nearest rank
  std::vector<LengthBin> bins = {};             ///< lines that are not empty, see length_bins
};

/// Returns the number of entries of each row.
std::vector<std::int64_t> row_lengths(const formats::CsrView& a);
/// Returns the number of entries of each column; most empty columns are omitted if there are many.
std::vector<std::int64_t> column_lengths(const formats::CsrView& a);

/// Computes statistics of `lines` rows or columns. `lengths` must contain all nonempty ones and any number of
/// empty ones.
LineLengths measure_lengths(std::vector<std::int64_t> lengths, std::int64_t lines);

/// Counts lines by length in at most `max_bins` bins (>= 2): one per length if there are few lengths,
/// otherwise bins that double in width. Covers the first to the last nonempty bin; empty without lines.
std::vector<LengthBin> length_bins(const std::vector<std::int64_t>& lengths, std::size_t max_bins);

Json to_json(const LineLengths& lengths);

}  // namespace sptile::tools
