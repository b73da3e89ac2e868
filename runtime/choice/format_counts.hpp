// What a product with one format of a matrix moves and does, counted in units that do not depend on N.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "formats/layout/format_layout.hpp"

namespace sptile::runtime {

/// The columns of tiles and those of entries in rows, in the order in which a kernel fetches rows of B; most
/// formats have one of them.
using FetchLists = std::array<std::span<const std::int32_t>, 2>;

inline constexpr std::int64_t kItems = 20'000, kLeastPiece = 128, kMostPiece = 512, kLongPieces = 3;

/// Counts of one format.
struct FormatCounts {
  std::int64_t fetches = 0;  ///< rows of B that are asked for: csr nnz, tiles 8 a tile, tall 8 a group
  std::int64_t tiles = 0;    ///< that tensor cores multiply; 0 for csr
  std::int64_t entries = 0;  ///< of the matrix
  std::int64_t units = 0;    ///< windows, or rows where there are none
  std::int64_t longest = 0;  ///< fetches of the longest unit: of the tiles of a window, or of a row
  std::int64_t pieces = 0;   ///< that long units are cut into, so that all multiprocessors have work
  std::int64_t bytes = 0;    ///< of all arrays
  FetchLists lists = {};
};

/// Counts in O(1) from the lengths of the arrays, and O(units) for the longest one and the pieces. Kernels
/// cut units in their own ways; here a piece has 1/kItems of all fetches, but kLeastPiece to kMostPiece of
/// them, and units of more than kLongPieces are cut. The lengths must agree (check_lengths); contents may be
/// anything: counts of a damaged matrix mean nothing, but reading them is safe.
FormatCounts count_format(const formats::FormatView& a);

/// Estimates the share of fetches, 0 to 1, that a cache with room for `room` rows of B must bring from
/// further away. Keeps two generations of rows, each of half the room, and calls a row of either a hit: least
/// recently used, to within half the room. Looks at all of a short list and at two runs of `sample` fetches
/// of a long one, of which only the second halves are counted, when the cache is warm. O(min(fetches, 2
/// sample)), and at most a few megabytes.
double miss_share(const FetchLists& lists, std::int64_t room, std::int64_t sample);

}  // namespace sptile::runtime
