// The cost model that chooses the window height of `tall`, for all converters.
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

/// Totals of a matrix, or a sample of it, for one window height.
struct TallCount {
  std::int64_t windows = 0, columns = 0, groups = 0, tiles = 0;  ///< `columns`: distinct columns, summed over
                                                                 ///< windows

  /// Returns the cost of SpMM with 128 columns of f32 as bytes between L2 and a multiprocessor: rows of B,
  /// once per window that uses them; the index of the format; and byte equivalents of the time of dense
  /// tiles, window starts and shared windows.
  [[nodiscard]] std::int64_t bytes(int height) const;
};
using TallCounts = std::array<TallCount, kTallLevels>;

/// Equally spaced blocks of 128 rows that represent the matrix when heights are compared, with about
/// `entries` nonzeros in total; all blocks of a smaller matrix.
struct TallSample {
  std::int64_t blocks, step;

  TallSample(std::int64_t rows, std::int64_t nnz, std::int64_t entries = std::int64_t{1} << 22)
      : blocks((rows + kTallMaxRows - 1) / kTallMaxRows),
        step(std::clamp<std::int64_t>(nnz / std::max<std::int64_t>(entries, 1), 1,
                                      std::max<std::int64_t>(blocks, 1))) {}
  [[nodiscard]] std::int64_t size() const { return (blocks + step - 1) / step; }
  [[nodiscard]] std::int64_t block(std::int64_t i) const { return std::min(i * step + step / 2, blocks - 1); }
  /// Scales the totals of the sample to all blocks.
  [[nodiscard]] TallCount of_all(const TallCount& count) const;
};

/// Returns the cheapest level (see tall_height), the lower one on ties.
int cheapest_level(const TallCounts& counts);

/// Describes the choice and the cost of each height.
Parameters tall_parameters(const TallCounts& counts, int level);

}  // namespace sptile::formats
