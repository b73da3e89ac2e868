// Which columns of a window go to tensor cores (Libra, section 4.2), and where they stand there.
#pragma once

#include <cstdint>
#include <span>

#include "formats/layout/libra_rules.hpp"

namespace sptile::formats {

/// The split of one window.
struct LibraSplit {
  std::int64_t dense = 0;    ///< columns that go to tiles because they are dense
  std::int64_t filled = 0;   ///< columns that go to tiles because there is room
  std::int64_t entries = 0;  ///< of both

  [[nodiscard]] std::int64_t columns() const { return dense + filled; }
};

// counts[c] says how many entries column c of a window of 8 rows has, 0 for what is no column. slots[c]
// becomes its place among the columns of the window's tiles, -1 when it is not there. O(columns), no memory.

/// The rule for SpMM. Chosen are columns with at least `threshold` entries and, where they do not fill the
/// last block, the densest others that do, the first of equals. They keep their order.
LibraSplit split_columns(std::span<const std::uint8_t> counts, LibraSetting setting, std::int32_t* slots);

/// The rule for SDDMM. Columns are sorted by descending number of entries, equals in their order, and cut in
/// blocks. Chosen are the blocks with at least `threshold` entries: the first ones.
LibraSplit split_blocks(std::span<const std::uint8_t> counts, LibraSetting setting, std::int32_t* slots);

}  // namespace sptile::formats
