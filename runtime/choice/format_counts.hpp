// Work and data of a product with one format of a matrix, in units that do not depend on N.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "formats/layout/format_layout.hpp"

namespace sptile::runtime {

/// Columns of tiles and of entries in rows, in the order in which a kernel loads rows of B. Most formats have
/// one of them.
using LoadLists = std::array<std::span<const std::int32_t>, 2>;

inline constexpr std::int64_t kItems = 20'000, kMinPiece = 128, kMaxPiece = 512, kLongPieces = 3;

/// Counts of one format.
struct FormatCounts {
  std::int64_t loads = 0;    ///< loads of rows of B: nnz for csr, 8 per tile, 8 per group for tall
  std::int64_t tiles = 0;    ///< tiles for tensor cores; 0 for csr
  std::int64_t entries = 0;  ///< entries of the matrix
  std::int64_t units = 0;    ///< windows, or rows in formats without windows
  std::int64_t longest = 0;  ///< loads of the longest unit: the tiles of a window, or a row
  /// segments into which long units are split, so that all multiprocessors have work
  std::int64_t pieces = 0;
  std::int64_t bytes = 0;  ///< bytes of all arrays
  LoadLists lists = {};
};

/// Counts in O(1) from the lengths of the arrays, and in O(units) for the longest unit and the segments.
/// Kernels split units differently; here a segment has 1/kItems of all loads, between kMinPiece and
/// kMaxPiece, and units of more than kLongPieces are split. The lengths must agree (check_lengths). Contents
/// may be invalid: counts of a damaged matrix are meaningless, but safe to compute.
FormatCounts count_format(const formats::FormatView& a);

/// A part of a list.
struct ListRange {
  std::size_t begin = 0, size = 0;
};

/// Returns the parts of a list of `size` loads that miss_share reads: all of a short list, in which the
/// second range is empty, or two runs of `sample` loads. Those of a smaller sample are within them.
std::array<ListRange, 2> sampled_ranges(std::size_t size, std::int64_t sample);

/// Estimates the fraction of loads, 0 to 1, that miss a cache of `cached_rows` rows of B. Keeps two
/// generations of rows, each of half the size, and counts a row of either as a hit, which approximates LRU to
/// within half the size. Evaluates all of a short list and two runs of `sample` loads of a long one, of which
/// only the second halves are counted, when the cache is warm. O(min(loads, 2 sample)), and at most a few
/// megabytes.
double miss_share(const LoadLists& lists, std::int64_t cached_rows, std::int64_t sample);

}  // namespace sptile::runtime
