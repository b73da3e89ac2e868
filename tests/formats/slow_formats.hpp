// Every format built the slow, obvious way, straight from its definition: what the converters are compared
// with.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "formats/convert/converters.hpp"
#include "sample_matrices.hpp"

namespace sptile::tests {

/// Array name -> elements; value arrays hold the positions of the values in CSR.
using SlowArrays = std::map<std::string, std::vector<std::uint64_t>>;

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

/// Visits the entries of one tile's cells: f(row in the tile, column in the tile, position), for rows and
/// columns of the tile in the given ranges.
template <class F>
void visit_cells(const Cells& cells, const SlowTile& tile, std::size_t first_row, std::size_t row_begin,
                 std::size_t row_end, std::size_t column_begin, std::size_t column_end, const F& f) {
  for (std::size_t r = row_begin; r < row_end; ++r)
    for (std::size_t c = column_begin; c < std::min(column_end, tile.real); ++c)
      if (const auto cell = cells.find({static_cast<std::int64_t>(first_row + r), tile.columns[c]});
          cell != cells.end())
        f(r, c, cell->second);
}

inline SlowArrays slow_csr(const Rows& rows) {
  SlowArrays arrays{{"row_ptr", {0}}, {"col_idx", {}}, {"values", {}}};
  for (const auto& row : rows) {
    for (const std::int32_t c : row) {
      arrays["values"].push_back(arrays["col_idx"].size());
      arrays["col_idx"].push_back(static_cast<std::uint64_t>(c));
    }
    arrays["row_ptr"].push_back(arrays["col_idx"].size());
  }
  return arrays;
}

inline SlowArrays slow_me_tcf(const Rows& rows) {
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

inline SlowArrays slow_bittcf(const Rows& rows) {
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

inline SlowArrays slow_bmat(const Rows& rows) {
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

/// Algorithm 1 of RSH-SpMM, word for word; `small` is the rule of the pseudo-code, else that of the prose;
/// tau_nnz = 0 keeps every row in windows.
struct SlowPartition {
  std::vector<std::size_t> windows, residual_rows;
  std::int64_t tc_blocks = 0, residual_entries = 0;

  SlowPartition(const Rows& rows, std::size_t tau_nnz, std::size_t tau_inc, bool small) {
    for (std::size_t r = 0; r < rows.size();) {
      if (rows[r].empty()) {
        ++r;
        continue;
      }
      const std::size_t full = distinct_columns(rows, r, r + 8).size();
      const std::size_t delta = full - distinct_columns(rows, r + 1, r + 8).size();
      if (rows[r].size() <= tau_nnz && (small ? delta < tau_inc : delta >= tau_inc)) {
        residual_rows.push_back(r);
        residual_entries += static_cast<std::int64_t>(rows[r].size());
        ++r;
      } else {
        windows.push_back(r);
        tc_blocks += static_cast<std::int64_t>((full + 7) / 8);
        r += 8;
      }
    }
  }
  [[nodiscard]] std::tuple<std::int64_t, std::int64_t> cost() const {
    return {8 * tc_blocks + residual_entries, tc_blocks};
  }
};

/// The largest tau up to 4 whose rows hold at most half of the entries; 0 when there are no such rows.
inline std::size_t slow_tau_nnz(const Rows& rows) {
  std::size_t nnz = 0, best = 0;
  for (const auto& row : rows) nnz += row.size();
  for (std::size_t tau = 1; tau <= 4; ++tau) {
    std::size_t in_short_rows = 0;
    for (const auto& row : rows) in_short_rows += row.size() <= tau ? row.size() : 0;
    if (2 * in_short_rows > nnz) return best;
    if (in_short_rows > 0 || tau > 1) best = tau;
    if (tau == 4 && in_short_rows == 0) best = 0;
  }
  return best;
}

/// The partition that fetches the fewest rows of B; the first of equals: none, pseudo-code, prose.
inline SlowPartition slow_best_partition(const Rows& rows, std::size_t tau_nnz) {
  SlowPartition best(rows, 0, 0, true);
  for (const bool small : {true, false})
    for (std::size_t tau_inc = 1; tau_inc <= tau_nnz + 1; ++tau_inc) {
      SlowPartition candidate(rows, tau_nnz, tau_inc, small);
      if (candidate.cost() < best.cost()) best = std::move(candidate);
    }
  return best;
}

inline SlowArrays slow_rs_tile(const Rows& rows) {
  const Cells cells = cells_of(rows);
  const std::size_t tau_nnz = slow_tau_nnz(rows);
  const SlowPartition partition = slow_best_partition(rows, tau_nnz);
  const auto windows = static_cast<std::int64_t>(partition.windows.size());
  const std::int64_t mean = windows == 0 ? 0 : (partition.tc_blocks + windows - 1) / windows;
  const auto limit =
      static_cast<std::size_t>(std::max({std::int64_t{32}, 8 * mean, partition.tc_blocks / 1024}));

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
  for (const std::size_t first : partition.windows) {
    const std::vector<SlowTile> tiles = tiles_of(rows, first, 8);
    const std::size_t pieces = (tiles.size() + limit - 1) / limit;
    for (std::size_t piece = 0; piece < pieces; ++piece) {
      for (std::size_t t = tiles.size() * piece / pieces; t < tiles.size() * (piece + 1) / pieces; ++t) {
        std::uint64_t bits = 0;
        visit_cells(cells, tiles[t], first, 0, 8, 0, 8,
                    [&](std::size_t r, std::size_t c, std::uint64_t position) {
                      bits |= std::uint64_t{1} << (8 * r + c);
                      arrays["values"].push_back(position);
                    });
        arrays["bitmap"].push_back(bits);
        arrays["col_id"].insert(arrays["col_id"].end(), tiles[t].columns.begin(), tiles[t].columns.end());
      }
      arrays["row_window_id"].push_back(first);
      arrays["window_flags"].push_back(pieces > 1 ? 1 : 0);
      arrays["row_window_offset"].push_back(arrays["bitmap"].size());
      arrays["value_offset"].push_back(arrays["values"].size());
    }
  }
  for (std::size_t entries = 0; entries <= tau_nnz; ++entries) {
    for (const std::size_t r : partition.residual_rows)
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

/// A distinct column of a tall window and the sub-windows of 8 rows that use it.
using SlowTallColumn = std::pair<std::uint32_t, std::int32_t>;  // (mask, column): sorted as the format wants

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

/// Sorted groups in the order of their places: i is the reverse of the bits of the place.
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

/// The height of 16, 32, 64 and 128 rows that moves the fewest bytes for 128 columns of B.
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
    const std::size_t bytes =
        (512 + 4) * columns + (8 + 64 * height / 8) * groups + (4096 / 5 + 12) * tiles + 8192 * windows;
    if (best == 0 || bytes < best_bytes) best = height, best_bytes = bytes;
  }
  return best;
}

inline SlowArrays slow_tall(const Rows& rows) { return slow_tall_at(rows, slow_tall_height(rows)); }

/// The columns of a window by descending number of entries, equals ascending: (-entries, column).
inline std::vector<std::pair<int, std::int32_t>> slow_columns_by_density(const Rows& rows,
                                                                         std::size_t first) {
  std::map<std::int32_t, int> counts;
  for (std::size_t r = first; r < std::min(first + 8, rows.size()); ++r)
    for (const std::int32_t c : rows[r]) ++counts[c];
  std::vector<std::pair<int, std::int32_t>> by_density;
  for (const auto& [column, count] : counts) by_density.emplace_back(-count, column);
  std::sort(by_density.begin(), by_density.end());
  return by_density;
}

/// The formats of Libra: columns_of(first row) lists the columns of a window that go to tiles, in the order
/// in which they stand there; windows are padded to a multiple of `step` columns.
template <class ColumnsOf>
SlowArrays slow_libra(const Rows& rows, std::size_t step, const ColumnsOf& columns_of) {
  const Cells cells = cells_of(rows);
  SlowArrays arrays{{"row_window_offset", {0}},
                    {"tc_offset", {0}},
                    {"bitmap", {}},
                    {"col_id", {}},
                    {"values", {}},
                    {"residual_row_id", {}},
                    {"residual_row_offset", {0}},
                    {"residual_col_id", {}},
                    {"residual_values", {}}};
  for (std::size_t first = 0; first < rows.size(); first += 8) {
    std::vector<std::int32_t> columns = columns_of(first);
    const std::size_t real = columns.size();
    const std::set<std::int32_t> chosen(columns.begin(), columns.end());
    while (columns.size() % step != 0) columns.push_back(columns.back());
    for (std::size_t i = 0; i < columns.size(); i += 8) {
      std::uint64_t bits = 0;
      for (std::size_t r = 0; r < 8; ++r)
        for (std::size_t c = i; c < std::min(i + 8, real); ++c)
          if (const auto cell = cells.find({static_cast<std::int64_t>(first + r), columns[c]});
              cell != cells.end()) {
            bits |= std::uint64_t{1} << (8 * r + c - i);
            arrays["values"].push_back(cell->second);
          }
      arrays["bitmap"].push_back(bits);
      arrays["tc_offset"].push_back(arrays["values"].size());
    }
    for (const std::int32_t c : columns) arrays["col_id"].push_back(static_cast<std::uint64_t>(c));
    arrays["row_window_offset"].push_back(arrays["bitmap"].size());
    for (std::size_t r = first; r < std::min(first + 8, rows.size()); ++r) {
      const std::size_t before = arrays["residual_col_id"].size();
      for (const std::int32_t c : rows[r]) {
        if (chosen.contains(c)) continue;
        arrays["residual_col_id"].push_back(static_cast<std::uint64_t>(c));
        arrays["residual_values"].push_back(cells.at({static_cast<std::int64_t>(r), c}));
      }
      if (arrays["residual_col_id"].size() == before) continue;
      arrays["residual_row_id"].push_back(r);
      arrays["residual_row_offset"].push_back(arrays["residual_col_id"].size());
    }
  }
  return arrays;
}

/// Columns with at least `threshold` entries, then the densest others until the last block is full;
/// ascending.
inline SlowArrays slow_libra_spmm_at(const Rows& rows, int threshold, std::size_t block = 8) {
  return slow_libra(rows, 8, [&](std::size_t first) {
    std::vector<std::int32_t> columns;
    for (const auto& [negative, column] : slow_columns_by_density(rows, first))
      if (-negative >= threshold || columns.size() % block != 0) columns.push_back(column);
    std::sort(columns.begin(), columns.end());
    return columns;
  });
}

inline SlowArrays slow_libra_spmm(const Rows& rows) { return slow_libra_spmm_at(rows, 3); }

/// Blocks of 16 columns, the densest first, that have at least `threshold` entries.
inline SlowArrays slow_libra_sddmm_at(const Rows& rows, int threshold) {
  return slow_libra(rows, 16, [&](std::size_t first) {
    const auto by_density = slow_columns_by_density(rows, first);
    std::vector<std::int32_t> columns;
    for (std::size_t i = 0; i < by_density.size(); i += 16) {
      int entries = 0;
      for (std::size_t c = i; c < std::min(i + 16, by_density.size()); ++c) entries -= by_density[c].first;
      for (std::size_t c = i; c < std::min(i + 16, by_density.size()); ++c)
        if (entries >= threshold) columns.push_back(by_density[c].second);
    }
    return columns;
  });
}

inline SlowArrays slow_libra_sddmm(const Rows& rows) { return slow_libra_sddmm_at(rows, 24); }

/// One row per format.
inline const std::map<std::string, SlowArrays (*)(const Rows&)> kSlowFormats{
    {"csr", slow_csr},
    {"me_tcf", slow_me_tcf},
    {"bittcf", slow_bittcf},
    {"bmat", slow_bmat},
    {"rs_tile", slow_rs_tile},
    {"tall", slow_tall},
    {"libra_spmm", slow_libra_spmm},
    {"libra_sddmm", slow_libra_sddmm}};

}  // namespace sptile::tests
