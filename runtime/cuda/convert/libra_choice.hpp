// Which columns of a window go to tiles, from how many there are with each number of entries.
#pragma once

#include <cstdint>

#include "runtime/cuda/device/qualifiers.hpp"

namespace sptile::runtime::cuda {

inline constexpr int kLibraCounts = 9;  ///< columns of 8 rows have 0 to 8 entries

/// All columns with more than `level` entries, and the first `at_level` with as many.
struct LibraChoice {
  std::uint32_t columns, level, at_level;  ///< columns: in all

  [[nodiscard]] SPTILE_HOST_DEVICE bool some_of(std::uint32_t count) const {
    return at_level > 0 && count == level;
  }
  /// in_front: columns of as many entries that stand in front of it in the window; matters at the level only.
  [[nodiscard]] SPTILE_HOST_DEVICE bool takes(std::uint32_t count, std::uint32_t in_front) const {
    return count > level || (some_of(count) && in_front < at_level);
  }
};

struct LibraSums {
  std::uint32_t dense, filled, entries;  ///< see formats::LibraSplit
};

/// The rules of formats::split_columns and, by density, formats::split_blocks.
struct LibraRule {
  int threshold, block_columns;
  bool by_density;

  /// Tiles of a window with so many columns in tiles.
  [[nodiscard]] SPTILE_HOST_DEVICE std::uint32_t tiles(std::uint32_t columns) const {
    const std::uint32_t step = by_density ? static_cast<std::uint32_t>(block_columns) : 8;
    return (columns + step - 1) / step * step / 8;
  }
  /// columns: of a window, by their number of entries.
  SPTILE_HOST_DEVICE LibraSums choose(const std::uint32_t* columns, LibraChoice& choice) const {
    const LibraSums sums = by_density ? choose_blocks(columns) : choose_columns(columns, choice);
    choice.columns = sums.dense + sums.filled;
    return sums;
  }

 private:
  /// Columns with at least `threshold` entries, and the densest others that fill the last block.
  SPTILE_HOST_DEVICE LibraSums choose_columns(const std::uint32_t* columns, LibraChoice& choice) const {
    LibraSums sums{0, 0, 0};
    for (int count = threshold; count < kLibraCounts; ++count) {
      sums.dense += columns[count];
      sums.entries += static_cast<std::uint32_t>(count) * columns[count];
    }
    const auto block = static_cast<std::uint32_t>(block_columns);
    int level = (threshold < kLibraCounts ? threshold : kLibraCounts) - 1;
    std::uint32_t room = (block - sums.dense % block) % block, at_level = 0;
    for (; room > 0 && level > 0; --level) {
      at_level = room < columns[level] ? room : columns[level];
      sums.filled += at_level;
      sums.entries += static_cast<std::uint32_t>(level) * at_level;
      room -= at_level;
      if (room == 0) break;
    }
    choice.level = static_cast<std::uint32_t>(level);
    choice.at_level = level == 0 ? 0 : at_level;
    return sums;
  }

  /// Blocks of the densest columns, as long as they have at least `threshold` entries. The level does not
  /// matter: the columns are sorted.
  SPTILE_HOST_DEVICE LibraSums choose_blocks(const std::uint32_t* columns) const {
    LibraSums sums{0, 0, 0};
    std::uint32_t left = columns[kLibraCounts - 1];  // columns of `count` entries that are in no block yet
    for (int count = kLibraCounts - 1; count > 0;) {
      std::uint32_t size = 0, entries = 0;
      while (count > 0 && size < static_cast<std::uint32_t>(block_columns)) {
        const std::uint32_t room = static_cast<std::uint32_t>(block_columns) - size;
        const std::uint32_t taken = left < room ? left : room;
        size += taken;
        entries += taken * static_cast<std::uint32_t>(count);
        left -= taken;
        if (left > 0) break;
        if (--count > 0) left = columns[count];
      }
      if (entries < static_cast<std::uint32_t>(threshold)) break;  // later blocks have no more
      sums.dense += size;
      sums.entries += entries;
    }
    return sums;
  }
};

}  // namespace sptile::runtime::cuda
