// Slow builders of every format, written directly from its definition, for comparison with the converters.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "formats/convert/converters.hpp"
#include "tests/formats/sample_matrices.hpp"

namespace sptile::tests {

/// Array name -> elements; value arrays contain the CSR positions of the values.
using SlowArrays = std::map<std::string, std::vector<std::uint64_t>>;

/// Builds a format from a matrix. If the format permits a choice, uses that of the conversion in `made` and
/// checks that the definition allows it.
using SlowFormat = SlowArrays (*)(const Rows& rows, const formats::FormatView& made);

/// A matrix as (row, column) -> position in CSR.
using Cells = std::map<std::pair<std::int64_t, std::int64_t>, std::uint64_t>;

inline Cells cells_of(const Rows& rows) {
  Cells cells;
  std::uint64_t position = 0;
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (const std::int32_t c : rows[r]) cells[{static_cast<std::int64_t>(r), c}] = position++;
  return cells;
}

/// The distinct columns of rows [first, end), ascending.
inline std::vector<std::int32_t> distinct_columns(const Rows& rows, std::size_t first, std::size_t end) {
  std::set<std::int32_t> columns;
  for (std::size_t r = first; r < std::min(end, rows.size()); ++r)
    columns.insert(rows[r].begin(), rows[r].end());
  return {columns.begin(), columns.end()};
}

/// The tiles of a window: 8 columns each, the last one padded. `real` is the number of real columns.
struct SlowTile {
  std::vector<std::int32_t> columns;
  std::size_t real;
};

inline std::vector<SlowTile> tiles_of(const Rows& rows, std::size_t first, std::size_t height) {
  const std::vector<std::int32_t> columns = distinct_columns(rows, first, first + height);
  std::vector<SlowTile> tiles;
  for (std::size_t i = 0; i < columns.size(); i += 8) {
    SlowTile tile;
    for (std::size_t c = i; c < i + 8; ++c) tile.columns.push_back(columns[std::min(c, columns.size() - 1)]);
    tile.real = std::min<std::size_t>(8, columns.size() - i);
    tiles.push_back(tile);
  }
  return tiles;
}

/// Calls f(row in the tile, column in the tile, position) for the entries of one tile in the given ranges of
/// rows and columns.
template <class F>
void visit_cells(const Cells& cells, const SlowTile& tile, std::size_t first_row, std::size_t row_begin,
                 std::size_t row_end, std::size_t column_begin, std::size_t column_end, const F& f) {
  for (std::size_t r = row_begin; r < row_end; ++r)
    for (std::size_t c = column_begin; c < std::min(column_end, tile.real); ++c)
      if (const auto cell = cells.find({static_cast<std::int64_t>(first_row + r), tile.columns[c]});
          cell != cells.end())
        f(r, c, cell->second);
}

}  // namespace sptile::tests
