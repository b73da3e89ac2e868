// Which height the windows of a matrix get: the one that moves the fewest bytes.
#pragma once

#include <array>
#include <cstdint>

#include "formats/convert/tall_window.hpp"
#include "formats/csr_view.hpp"
#include "formats/parameters.hpp"

namespace sptile::formats {

/// What windows of one height are made of.
struct TallCount {
  std::int64_t windows = 0, columns = 0, groups = 0, tiles = 0;  ///< distinct columns, summed over windows
  std::int64_t visits = 0;                                       ///< groups times sub-windows

  /// Bytes that a product with 128 columns of f32 moves, in bytes between L2 and a multiprocessor: the rows
  /// of B, once for each window that uses them; the index of the format; and what else takes time, at the
  /// price of such bytes: tiles that read their rows of B from shared memory, warps that look whether a group
  /// has work for them, the start of a window.
  [[nodiscard]] std::int64_t bytes() const;
};

/// Counts the windows of every height in a sample of the matrix: the blocks of 128 rows at even distances,
/// with about `entries` entries; all of a smaller matrix. Parallel; the same for any number of threads.
std::array<TallCount, kTallLevels> count_tall_windows(const CsrView& a,
                                                      std::int64_t entries = std::int64_t{1} << 22);

/// Gives the level (see tall_height) with the fewest bytes; the lower one of equals.
int cheapest_level(const std::array<TallCount, kTallLevels>& counts);

/// Says what was chosen and why.
Parameters tall_parameters(const std::array<TallCount, kTallLevels>& counts, int level);

}  // namespace sptile::formats
