#include "formats/convert/libra_split.hpp"

#include <algorithm>
#include <array>
#include <cassert>

namespace sptile::formats {

LibraSplit split_window(std::span<const std::uint8_t> counts, int threshold, std::uint8_t* chosen) {
  assert(threshold >= 1);
  std::array<std::int64_t, 9> columns{};  // by number of entries
  for (const std::uint8_t count : counts) ++columns[count];

  LibraSplit split;
  for (int count = threshold; count <= 8; ++count) split.dense += columns[static_cast<std::size_t>(count)];

  // All columns with more than `level` entries are chosen, and the first `at_level` with as many.
  int level = std::min(threshold, 9) - 1;
  std::int64_t room = (8 - split.dense % 8) % 8, at_level = 0;
  for (; room > 0 && level > 0; --level) {
    at_level = std::min(room, columns[static_cast<std::size_t>(level)]);
    split.filled += at_level;
    room -= at_level;
    if (room == 0) break;
  }

  for (std::size_t c = 0; c < counts.size(); ++c) {
    const bool first_of_equals = counts[c] == level && level > 0 && at_level > 0;
    at_level -= first_of_equals;
    chosen[c] = counts[c] > level || first_of_equals;
    if (chosen[c] != 0) split.entries += counts[c];
  }
  return split;
}

}  // namespace sptile::formats
