#include "formats/convert/libra_split.hpp"

#include <algorithm>
#include <array>
#include <cassert>

namespace sptile::formats {
namespace {

/// Number of columns of a window by nonzeros per column.
using Histogram = std::array<std::int64_t, 9>;

Histogram count_columns(std::span<const std::uint8_t> counts) {
  Histogram columns{};
  for (const std::uint8_t count : counts) ++columns[count];
  return columns;
}

/// Returns the number of nonzeros in the `size` densest columns.
std::int64_t densest_entries(const Histogram& columns, std::int64_t size) {
  std::int64_t entries = 0;
  for (std::size_t count = 8; count > 0 && size > 0; --count) {
    const std::int64_t taken = std::min(size, columns[count]);
    entries += taken * static_cast<std::int64_t>(count);
    size -= taken;
  }
  return entries;
}

}  // namespace

LibraSplit split_columns(std::span<const std::uint8_t> counts, LibraSetting setting, std::int32_t* slots) {
  assert(setting.threshold >= 1);
  const Histogram columns = count_columns(counts);
  LibraSplit split;
  for (int count = setting.threshold; count <= 8; ++count)
    split.dense += columns[static_cast<std::size_t>(count)];

  // Selects all columns with more than `level` nonzeros, and the first `at_level` columns with exactly
  // `level`.
  int level = std::min(setting.threshold, 9) - 1;
  std::int64_t at_level = 0, padding = (setting.block_columns - split.dense % setting.block_columns) %
                                       setting.block_columns;
  for (; padding > 0 && level > 0; --level) {
    at_level = std::min(padding, columns[static_cast<std::size_t>(level)]);
    split.filled += at_level;
    padding -= at_level;
    if (padding == 0) break;
  }

  std::int32_t slot = 0;
  for (std::size_t c = 0; c < counts.size(); ++c) {
    const bool first_of_equals = counts[c] == level && level > 0 && at_level > 0;
    at_level -= first_of_equals;
    const bool chosen = counts[c] > level || first_of_equals;
    slots[c] = chosen ? slot++ : -1;
    if (chosen) split.entries += counts[c];
  }
  return split;
}

LibraSplit split_blocks(std::span<const std::uint8_t> counts, LibraSetting setting, std::int32_t* slots) {
  assert(setting.threshold >= 1);
  const Histogram columns = count_columns(counts);
  std::array<std::int64_t, 9> next{};  // next slot of columns with this number of nonzeros
  for (std::size_t count = 8; count > 0; --count) next[count - 1] = next[count] + columns[count];
  const std::int64_t all = next[0];

  LibraSplit split;
  while (split.dense < all) {
    const std::int64_t end = std::min(split.dense + setting.block_columns, all),
                       entries = densest_entries(columns, end);
    if (entries - split.entries < setting.threshold) break;  // later blocks do not have more nonzeros
    split.dense = end;
    split.entries = entries;
  }
  for (std::size_t c = 0; c < counts.size(); ++c) {
    const std::int64_t slot = next[counts[c]]++;
    slots[c] = counts[c] > 0 && slot < split.dense ? static_cast<std::int32_t>(slot) : -1;
  }
  return split;
}

}  // namespace sptile::formats
