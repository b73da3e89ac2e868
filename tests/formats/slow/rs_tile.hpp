// Slow builder of rs_tile, window by window. The conversion chooses residual rows and window splits; this
// checks that Algorithm 1 of RSH-SpMM and its section 3.3.3 permit the choice.
#pragma once

#include <doctest/doctest.h>

#include "formats/layout/blocks.hpp"
#include "tests/formats/slow/slow.hpp"

namespace sptile::tests {

/// Checks the residual rows: at most tau entries each, tau at most 4, and at most half of all entries.
inline void check_rs_short_rows(const Rows& rows, std::size_t tau) {
  std::size_t entries = 0, in_short_rows = 0;
  for (const auto& row : rows) {
    entries += row.size();
    if (row.size() <= tau) in_short_rows += row.size();
  }
  CHECK(tau <= 4);
  CHECK(2 * in_short_rows <= entries);
}

/// Iterates over the rows as Algorithm 1 does: a row that is not residual starts a window of 8. Checks that a
/// single threshold on the columns that a short row adds to the following seven separates residual rows from
/// the others. Returns the first rows of the windows.
inline std::vector<std::size_t> walk_rs_rows(const Rows& rows, const std::set<std::size_t>& residual,
                                             std::size_t tau) {
  std::vector<std::size_t> windows;
  std::set<std::size_t> of_residual, of_others;
  std::size_t visited = 0;
  for (std::size_t r = 0; r < rows.size();) {
    const bool is_residual = residual.contains(r), is_short = rows[r].size() <= tau;
    const std::size_t adds =
        distinct_columns(rows, r, r + 8).size() - distinct_columns(rows, r + 1, r + 8).size();
    if (is_residual) REQUIRE((is_short && !rows[r].empty()));
    visited += is_residual;
    if (!rows[r].empty() && is_short) (is_residual ? of_residual : of_others).insert(adds);
    const bool starts_window = !rows[r].empty() && !is_residual;
    if (starts_window) windows.push_back(r);
    r += starts_window ? 8 : 1;
  }
  CHECK(visited == residual.size());
  if (!of_residual.empty() && !of_others.empty())
    CHECK((*of_residual.rbegin() < *of_others.begin() || *of_others.rbegin() < *of_residual.begin()));
  return windows;
}

/// Checks the pieces of the windows: they are nearly equal, and with one piece fewer the longest one would
/// exceed the longest of all windows, 32 tiles and 8 times the mean of all windows.
inline void check_rs_pieces(const std::vector<std::vector<std::size_t>>& pieces_of_windows) {
  std::size_t longest = 0, tiles = 0;
  for (const auto& pieces : pieces_of_windows)
    for (const std::size_t piece : pieces) longest = std::max(longest, piece), tiles += piece;
  for (const auto& pieces : pieces_of_windows) {
    if (pieces.size() == 1) continue;
    std::size_t all = 0;
    for (const std::size_t piece : pieces) all += piece;
    CHECK(*std::max_element(pieces.begin(), pieces.end()) <=
          *std::min_element(pieces.begin(), pieces.end()) + 1);
    // length of the longest piece then
    const std::size_t with_fewer = (all + pieces.size() - 2) / (pieces.size() - 1);
    CHECK(with_fewer > std::max<std::size_t>(longest, 32));
    CHECK(with_fewer * pieces_of_windows.size() > 8 * tiles);
  }
}

inline SlowArrays slow_rs_tile(const Rows& rows, const formats::FormatView& made) {
  const formats::Blocks chosen = formats::blocks_of(made);
  const Cells cells = cells_of(rows);
  const std::set<std::size_t> residual(chosen.rows.ids.begin(), chosen.rows.ids.end());
  const std::size_t tau = chosen.rows.class_offset.size() - 2;
  check_rs_short_rows(rows, tau);

  SlowArrays arrays{{"row_window_id", {}},
                    {"row_window_offset", {0}},
                    {"value_offset", {0}},
                    {"window_flags", {}},
                    {"bitmap", {}},
                    {"col_id", {}},
                    {"values", {}},
                    {"residual_row_id", {}},
                    {"residual_class_offset", {0}},
                    {"residual_col_id", {}},
                    {"residual_values", {}}};
  std::vector<std::vector<std::size_t>> pieces_of_windows;
  std::int64_t next = 0;  // next piece of the conversion
  for (const std::size_t first : walk_rs_rows(rows, residual, tau)) {
    const std::vector<SlowTile> tiles = tiles_of(rows, first, 8);
    std::vector<std::size_t> pieces;
    for (std::size_t t = 0; t < tiles.size(); t += pieces.back(), ++next) {
      REQUIRE(next < chosen.windows());
      const auto at = static_cast<std::size_t>(next);
      REQUIRE(chosen.tile_offset[at + 1] > chosen.tile_offset[at]);
      pieces.push_back(static_cast<std::size_t>(chosen.tile_offset[at + 1] - chosen.tile_offset[at]));
      REQUIRE(t + pieces.back() <= tiles.size());
      for (std::size_t i = t; i < t + pieces.back(); ++i) {
        std::uint64_t bits = 0;
        visit_cells(cells, tiles[i], first, 0, 8, 0, 8,
                    [&](std::size_t r, std::size_t c, std::uint64_t position) {
                      bits |= std::uint64_t{1} << (8 * r + c);
                      arrays["values"].push_back(position);
                    });
        arrays["bitmap"].push_back(bits);
        arrays["col_id"].insert(arrays["col_id"].end(), tiles[i].columns.begin(), tiles[i].columns.end());
      }
      arrays["row_window_id"].push_back(first);
      arrays["row_window_offset"].push_back(arrays["bitmap"].size());
      arrays["value_offset"].push_back(arrays["values"].size());
    }
    arrays["window_flags"].resize(arrays["row_window_id"].size(), pieces.size() > 1 ? 1 : 0);
    pieces_of_windows.push_back(std::move(pieces));
  }
  check_rs_pieces(pieces_of_windows);
  for (std::size_t entries = 0; entries <= tau; ++entries) {
    for (const std::size_t r : residual)
      if (rows[r].size() == entries) {
        arrays["residual_row_id"].push_back(r);
        for (const std::int32_t c : rows[r]) {
          arrays["residual_col_id"].push_back(static_cast<std::uint64_t>(c));
          arrays["residual_values"].push_back(cells.at({static_cast<std::int64_t>(r), c}));
        }
      }
    arrays["residual_class_offset"].push_back(arrays["residual_row_id"].size());
  }
  return arrays;
}

}  // namespace sptile::tests
