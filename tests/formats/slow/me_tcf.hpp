// Slow builder of me_tcf, tile by tile.
#pragma once

#include "tests/formats/slow/slow.hpp"

namespace sptile::tests {

inline SlowArrays slow_me_tcf(const Rows& rows, const formats::FormatView&) {
  const Cells cells = cells_of(rows);
  SlowArrays arrays{{"row_window_offset", {0}},
                    {"tc_offset", {0}},
                    {"tc_local_id", {}},
                    {"sparse_a_to_b", {}},
                    {"values", {}}};
  for (std::size_t first = 0; first < rows.size(); first += 16) {
    for (const SlowTile& tile : tiles_of(rows, first, 16)) {
      visit_cells(cells, tile, first, 0, 16, 0, 8, [&](std::size_t r, std::size_t c, std::uint64_t position) {
        arrays["tc_local_id"].push_back(8 * r + c);
        arrays["values"].push_back(position);
      });
      arrays["sparse_a_to_b"].insert(arrays["sparse_a_to_b"].end(), tile.columns.begin(), tile.columns.end());
      arrays["tc_offset"].push_back(arrays["values"].size());
    }
    arrays["row_window_offset"].push_back(arrays["tc_offset"].size() - 1);
  }
  return arrays;
}

}  // namespace sptile::tests
