// How high the windows of `tall` become: the height that costs the least, as every conversion must choose it,
// wherever it runs.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "formats/core/parameters.hpp"
#include "formats/layout/tall.hpp"

namespace sptile::formats {

inline constexpr int kTallLevels = 4;  ///< heights of 16, 32, 64 and 128 rows
constexpr int tall_height(int level) { return 16 << level; }
constexpr int tall_level(int height) { return std::countr_zero(static_cast<unsigned>(height)) - 4; }

/// What windows of one height are made of.
struct TallCount {
  std::int64_t windows = 0, columns = 0, groups = 0, tiles = 0;  ///< distinct columns, summed over windows

  /// What a product with 128 columns of f32 costs, in bytes between L2 and a multiprocessor: the rows of B,
  /// once for each window that uses them; the index of the format; and what else takes time, at the price of
  /// such bytes: dense tiles, the start of a window, sums of windows that blocks share.
  [[nodiscard]] std::int64_t bytes(int height) const;
};
using TallCounts = std::array<TallCount, kTallLevels>;

/// The blocks of 128 rows on which heights are compared: at even distances, with about `entries` entries; all
/// of a smaller matrix.
struct TallSample {
  std::int64_t blocks, step;

  TallSample(std::int64_t rows, std::int64_t nnz, std::int64_t entries = std::int64_t{1} << 22)
      : blocks((rows + kTallMaxRows - 1) / kTallMaxRows),
        step(std::clamp<std::int64_t>(nnz / std::max<std::int64_t>(entries, 1), 1,
                                      std::max<std::int64_t>(blocks, 1))) {}
  [[nodiscard]] std::int64_t size() const { return (blocks + step - 1) / step; }
  [[nodiscard]] std::int64_t block(std::int64_t i) const { return std::min(i * step + step / 2, blocks - 1); }
  /// What all blocks have where those of the sample have `count`.
  [[nodiscard]] TallCount of_all(const TallCount& count) const;
};

/// Gives the level (see tall_height) that costs the fewest bytes; the lower one of equals.
int cheapest_level(const TallCounts& counts);

/// Says what was chosen and why.
Parameters tall_parameters(const TallCounts& counts, int level);

}  // namespace sptile::formats
