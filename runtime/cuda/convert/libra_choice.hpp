// Which columns of a window go to tiles, from how many there are with each number of entries.
#pragma once

#include <cstdint>

#include "runtime/cuda/qualifiers.hpp"

namespace sptile::runtime::cuda {

inline constexpr int kLibraCounts = 9;  ///< columns of 8 rows have 0 to 8 entries

/// All columns with more than `level` entries, and the first `at_level` with as many.
struct LibraChoice {
  std::uint8_t level, at_level;

  [[nodiscard]] SPTILE_HOST_DEVICE bool some_of(int count) const { return at_level > 0 && count == level; }
  /// in_front: columns of as many entries that stand in front of it in the window; matters at the level only.
  [[nodiscard]] SPTILE_HOST_DEVICE bool takes(int count, std::uint32_t in_front) const {
    return count > level || (some_of(count) && in_front < at_level);
  }
};

struct LibraSums {
  std::uint32_t dense, filled, entries;
};

/// The rule of formats::split_columns: columns with at least `threshold` entries, and the densest others that
/// fill the last tile.
SPTILE_HOST_DEVICE LibraSums choose_columns(const std::uint32_t* columns, int threshold,
                                            LibraChoice& choice) {
  LibraSums sums{0, 0, 0};
  for (int count = threshold; count < kLibraCounts; ++count) {
    sums.dense += columns[count];
    sums.entries += static_cast<std::uint32_t>(count) * columns[count];
  }
  int level = (threshold < kLibraCounts ? threshold : kLibraCounts) - 1;
  std::uint32_t room = (8 - sums.dense % 8) % 8, at_level = 0;
  for (; room > 0 && level > 0; --level) {
    at_level = room < columns[level] ? room : columns[level];
    sums.filled += at_level;
    sums.entries += static_cast<std::uint32_t>(level) * at_level;
    room -= at_level;
    if (room == 0) break;
  }
  if (level == 0) at_level = 0;
  choice = {static_cast<std::uint8_t>(level), static_cast<std::uint8_t>(at_level)};
  return sums;
}

}  // namespace sptile::runtime::cuda
