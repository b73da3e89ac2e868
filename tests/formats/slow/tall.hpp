// Slow builder of tall, window by window.
#pragma once

#include "tests/formats/slow/slow.hpp"

namespace sptile::tests {

/// A distinct column of a tall window and the sub-windows of 8 rows that use it.
// (mask, column): sorted in the order of the format
using SlowTallColumn = std::pair<std::uint32_t, std::int32_t>;

inline std::vector<SlowTallColumn> slow_tall_columns(const Rows& rows, std::size_t first,
                                                     std::size_t height) {
  std::map<std::int32_t, std::uint32_t> masks;
  for (std::size_t r = first; r < std::min(first + height, rows.size()); ++r)
    for (const std::int32_t c : rows[r]) masks[c] |= 1u << ((r - first) / 8);
  std::vector<SlowTallColumn> columns;
  for (const auto& [column, mask] : masks) columns.emplace_back(mask, column);
  std::sort(columns.begin(), columns.end());
  return columns;
}

/// Returns the order in which sorted groups are stored: i is the bit reversal of the position.
inline std::vector<std::size_t> slow_deal(std::size_t groups) {
  std::size_t size = 1;
  while (size < groups) size *= 2;
  std::vector<std::size_t> order{0};
  for (std::size_t step = size / 2; step > 0; step /= 2)
    for (std::size_t i = 0, count = order.size(); i < count; ++i) order.push_back(order[i] + step);
  std::erase_if(order, [&](std::size_t i) { return i >= groups; });
  if (groups == 0) order.clear();
  return order;
}

inline SlowArrays slow_tall_at(const Rows& rows, std::size_t height) {
  const Cells cells = cells_of(rows);
  SlowArrays arrays{{"window_row", {0}},   {"window_group_offset", {0}},
                    {"group_mask", {}},    {"group_tile_offset", {0}},
                    {"col_id", {}},        {"bitmap", {}},
                    {"value_offset", {0}}, {"values", {}}};
  for (std::size_t first = 0; first < rows.size(); first += height) {
    const std::vector<SlowTallColumn> columns = slow_tall_columns(rows, first, height);
    for (const std::size_t group : slow_deal((columns.size() + 7) / 8)) {
      SlowTile tile{{}, std::min<std::size_t>(8, columns.size() - 8 * group)};
      for (std::size_t c = 8 * group; c < 8 * group + 8; ++c)
        tile.columns.push_back(columns[std::min(c, columns.size() - 1)].second);
      std::uint64_t mask = 0;
      for (std::size_t s = 0; s < height / 8; ++s) {
        std::uint64_t bits = 0;
        visit_cells(cells, tile, first, 8 * s, 8 * s + 8, 0, 8,
                    [&](std::size_t r, std::size_t c, std::uint64_t position) {
                      bits |= std::uint64_t{1} << (8 * (r - 8 * s) + c);
                      arrays["values"].push_back(position);
                    });
        if (bits == 0) continue;
        mask |= std::uint64_t{1} << s;
        arrays["bitmap"].push_back(bits);
        arrays["value_offset"].push_back(arrays["values"].size());
      }
      arrays["group_mask"].push_back(mask);
      arrays["group_tile_offset"].push_back(arrays["bitmap"].size());
      arrays["col_id"].insert(arrays["col_id"].end(), tile.columns.begin(), tile.columns.end());
    }
    arrays["window_row"].push_back(std::min(first + height, rows.size()));
    arrays["window_group_offset"].push_back(arrays["group_mask"].size());
  }
  return arrays;
}

/// Returns the height among 16, 32, 64 and 128 rows with the fewest bytes for 128 columns of B.
inline std::size_t slow_tall_height(const Rows& rows) {
  std::size_t best = 0, best_bytes = 0;
  for (std::size_t height = 16; height <= 128; height *= 2) {
    std::size_t windows = 0, columns = 0, groups = 0, tiles = 0;
    for (std::size_t first = 0; first < rows.size(); first += height, ++windows) {
      const std::vector<SlowTallColumn> list = slow_tall_columns(rows, first, height);
      columns += list.size();
      for (std::size_t i = 0; i < list.size(); i += 8, ++groups) {
        std::set<std::size_t> used;
        for (std::size_t c = i; c < std::min(i + 8, list.size()); ++c)
          for (std::size_t s = 0; s < 16; ++s)
            if ((list[c].first >> s & 1) != 0) used.insert(s);
        tiles += used.size();
      }
    }
    const std::size_t bytes = (512 + 4) * columns +
                              (8 + 600 * std::max<std::size_t>(height / 8, 8)) * groups + 12 * tiles +
                              8192 * windows + (height == 128 ? 200'000'000 : 0);
    if (best == 0 || bytes < best_bytes) best = height, best_bytes = bytes;
  }
  return best;
}

inline SlowArrays slow_tall(const Rows& rows, const formats::FormatView&) {
  return slow_tall_at(rows, slow_tall_height(rows));
}

}  // namespace sptile::tests
