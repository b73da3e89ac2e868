// Slow builder of bittcf, tile by tile.
#pragma once

#include "tests/formats/slow/slow.hpp"

namespace sptile::tests {

inline SlowArrays slow_bittcf(const Rows& rows, const formats::FormatView&) {
  const Cells cells = cells_of(rows);
  SlowArrays arrays{{"row_window_offset", {0}},
                    {"tc_offset", {0}},
                    {"tc_local_bit", {}},
                    {"sparse_a_to_b", {}},
                    {"values", {}}};
  for (std::size_t first = 0; first < rows.size(); first += 8) {
    for (const SlowTile& tile : tiles_of(rows, first, 8)) {
      std::uint64_t bits = 0;
      visit_cells(cells, tile, first, 0, 8, 0, 8, [&](std::size_t r, std::size_t c, std::uint64_t position) {
        bits |= std::uint64_t{1} << (8 * r + c);
        arrays["values"].push_back(position);
      });
      arrays["tc_local_bit"].push_back(bits);
      arrays["sparse_a_to_b"].insert(arrays["sparse_a_to_b"].end(), tile.columns.begin(), tile.columns.end());
      arrays["tc_offset"].push_back(arrays["values"].size());
    }
    arrays["row_window_offset"].push_back(arrays["tc_local_bit"].size());
  }
  return arrays;
}

}  // namespace sptile::tests
