// Slow builder of bmat, word by word.
#pragma once

#include "tests/formats/slow/slow.hpp"

namespace sptile::tests {

inline SlowArrays slow_bmat(const Rows& rows, const formats::FormatView&) {
  const Cells cells = cells_of(rows);
  SlowArrays arrays{
      {"row_window_offset", {0}}, {"value_offset", {0}}, {"bits", {}}, {"col_id", {}}, {"values", {}}};
  for (std::size_t first = 0; first < rows.size(); first += 16) {
    for (const SlowTile& tile : tiles_of(rows, first, 16)) {
      for (std::size_t word = 0; word < 4; ++word) {
        const std::size_t row = 8 * (word % 2), column = 4 * (word / 2);
        std::uint64_t bits = 0;
        visit_cells(cells, tile, first, row, row + 8, column, column + 4,
                    [&](std::size_t r, std::size_t c, std::uint64_t position) {
                      bits |= std::uint64_t{1} << (4 * (r % 8) + c % 4);
                      arrays["values"].push_back(position);
                    });
        arrays["bits"].push_back(bits);
      }
      arrays["col_id"].insert(arrays["col_id"].end(), tile.columns.begin(), tile.columns.end());
    }
    arrays["row_window_offset"].push_back(arrays["bits"].size() / 4);
    arrays["value_offset"].push_back(arrays["values"].size());
  }
  return arrays;
}

}  // namespace sptile::tests
