// Selection and placement of a window's columns for tensor cores (Libra, section 4.2).
#pragma once

#include <cstdint>
#include <span>

#include "formats/layout/libra_rules.hpp"

namespace sptile::formats {

/// The split of one window.
struct LibraSplit {
  std::int64_t dense = 0;    ///< columns in tiles because they are dense
  std::int64_t filled = 0;   ///< columns that fill up partial tiles
  std::int64_t entries = 0;  ///< nonzeros of both

  [[nodiscard]] std::int64_t columns() const { return dense + filled; }
};

// counts[c] is the number of nonzeros of column c in a window of 8 rows, or 0 for padding. slots[c] becomes
// its index among the columns of the window's tiles, or -1 if it is residual. O(columns), without
// allocations.

/// SpMM rule: selects columns with at least `threshold` nonzeros, then the densest others that fill the last
/// block (the first ones on ties). Their order is kept.
LibraSplit split_columns(std::span<const std::uint8_t> counts, LibraSetting setting, std::int32_t* slots);

/// SDDMM rule: sorts columns by descending number of nonzeros (stable) and cuts them into blocks. Selects the
/// blocks with at least `threshold` nonzeros, which are the first ones.
LibraSplit split_blocks(std::span<const std::uint8_t> counts, LibraSetting setting, std::int32_t* slots);

}  // namespace sptile::formats
