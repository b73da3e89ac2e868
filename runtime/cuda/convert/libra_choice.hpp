// Selection of a window's columns for tiles, from a histogram of nonzeros per column.
#pragma once

#include <cstdint>

#include "runtime/cuda/device/qualifiers.hpp"

namespace sptile::runtime::cuda {

inline constexpr int kLibraCounts = 9;  ///< columns of 8 rows have 0 to 8 entries

/// Selects all columns with more than `level` entries, and the first `at_level` with exactly `level`.
struct LibraChoice {
  std::uint32_t columns, level, at_level;  ///< columns: total number

  [[nodiscard]] SPTILE_HOST_DEVICE bool some_of(std::uint32_t count) const {
    return at_level > 0 && count == level;
  }
  /// in_front: number of earlier columns of the window with the same number of entries; used only at the
  /// level.
  [[nodiscard]] SPTILE_HOST_DEVICE bool takes(std::uint32_t count, std::uint32_t in_front) const {
    return count > level || (some_of(count) && in_front < at_level);
  }
};

struct LibraSums {
  std::uint32_t dense, filled, entries;  ///< see formats::LibraSplit
};

/// Implements formats::split_columns and, by density, formats::split_blocks.
struct LibraRule {
  int threshold, block_columns;
  bool by_density;

  /// Returns the number of tiles of a window with `columns` columns in tiles.
  [[nodiscard]] SPTILE_HOST_DEVICE std::uint32_t tiles(std::uint32_t columns) const {
    const std::uint32_t step = by_density ? static_cast<std::uint32_t>(block_columns) : 8;
    return (columns + step - 1) / step * step / 8;
  }
  /// columns: histogram of the window's columns by number of entries.
  SPTILE_HOST_DEVICE LibraSums choose(const std::uint32_t* columns, LibraChoice& choice) const {
    const LibraSums sums = by_density ? choose_blocks(columns) : choose_columns(columns, choice);
    choice.columns = sums.dense + sums.filled;
    return sums;
  }

 private:
  /// Selects columns with at least `threshold` entries, and the densest others that fill the last block.
  SPTILE_HOST_DEVICE LibraSums choose_columns(const std::uint32_t* columns, LibraChoice& choice) const {
    LibraSums sums{0, 0, 0};
    for (int count = threshold; count < kLibraCounts; ++count) {
      sums.dense += columns[count];
      sums.entries += static_cast<std::uint32_t>(count) * columns[count];
    }
    const auto block = static_cast<std::uint32_t>(block_columns);
    int level = (threshold < kLibraCounts ? threshold : kLibraCounts) - 1;
    std::uint32_t workspace = (block - sums.dense % block) % block, at_level = 0;
    for (; workspace > 0 && level > 0; --level) {
      at_level = workspace < columns[level] ? workspace : columns[level];
      sums.filled += at_level;
      sums.entries += static_cast<std::uint32_t>(level) * at_level;
      workspace -= at_level;
      if (workspace == 0) break;
    }
    choice.level = static_cast<std::uint32_t>(level);
    choice.at_level = level == 0 ? 0 : at_level;
    return sums;
  }

  /// Selects blocks of the densest columns while they have at least `threshold` entries. The level is not
  /// used, because the columns are sorted.
  SPTILE_HOST_DEVICE LibraSums choose_blocks(const std::uint32_t* columns) const {
    LibraSums sums{0, 0, 0};
    std::uint32_t left = columns[kLibraCounts - 1];  // columns of `count` entries that are in no block so far
    for (int count = kLibraCounts - 1; count > 0;) {
      std::uint32_t size = 0, entries = 0;
      while (count > 0 && size < static_cast<std::uint32_t>(block_columns)) {
        const std::uint32_t workspace = static_cast<std::uint32_t>(block_columns) - size;
        const std::uint32_t taken = left < workspace ? left : workspace;
        size += taken;
        entries += taken * static_cast<std::uint32_t>(count);
        left -= taken;
        if (left > 0) break;
        if (--count > 0) left = columns[count];
      }
      if (entries < static_cast<std::uint32_t>(threshold)) break;  // later blocks do not have more entries
      sums.dense += size;
      sums.entries += entries;
    }
    return sums;
  }
};

}  // namespace sptile::runtime::cuda
