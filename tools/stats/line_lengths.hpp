// How many entries the rows, or the columns, of a matrix have.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/core/csr_view.hpp"
#include "tools/cli/result.hpp"

namespace sptile::tools {

inline constexpr int kPercentiles[] = {1, 10, 25, 50, 75, 90, 99};

struct LineLengths {
  std::int64_t empty = 0, minimum = 0, maximum = 0;
  double mean = 0, deviation = 0;
  std::vector<std::int64_t> percentiles;  ///< at kPercentiles, nearest rank
};

/// Lines with `least` to `most` entries.
struct LengthBin {
  std::int64_t least = 0, most = 0, lines = 0;
};

/// Entries of each row.
std::vector<std::int64_t> row_lengths(const formats::CsrView& a);
/// Entries of each column, without most of the empty ones where there are many of them.
std::vector<std::int64_t> column_lengths(const formats::CsrView& a);

/// Measures rows or columns, `lines` of them: all those with entries are among the lengths, of the empty ones
/// any number.
LineLengths measure_lengths(std::vector<std::int64_t> lengths, std::int64_t lines);

/// Counts lines by length in at most `most_bins` bins (2 or more): one for each length where there are few,
/// else bins that double in width. From the first bin with lines to the last; nothing without lines.
std::vector<LengthBin> length_bins(const std::vector<std::int64_t>& lengths, std::size_t most_bins);

Json to_json(const LineLengths& lengths);

}  // namespace sptile::tools
