// Which columns of a window go to tensor cores (Libra, section 4.2).
#pragma once

#include <cstdint>
#include <span>

namespace sptile::formats {

/// The split of one window.
struct LibraSplit {
  std::int64_t dense = 0;    ///< columns with at least `threshold` entries
  std::int64_t filled = 0;   ///< columns with fewer, that fill the last tile
  std::int64_t entries = 0;  ///< of both
};

/// Chooses columns of a window that go to its tiles. counts[c] says how many entries column c has, 0 for what
/// is no column; columns ascend. Chosen are those with at least `threshold` entries and, where their number
/// is no multiple of 8, the densest others that fill the last tile, the first of equals. Sets chosen[c] to 1
/// for these, else to 0. O(columns).
LibraSplit split_window(std::span<const std::uint8_t> counts, int threshold, std::uint8_t* chosen);

}  // namespace sptile::formats
