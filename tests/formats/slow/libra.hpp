// Slow builder shared by both formats of Libra: columns by density, two parts.
#pragma once

#include "tests/formats/slow/slow.hpp"

namespace sptile::tests {

/// Returns the columns of a window by descending number of entries, then ascending: (-entries, column).
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

/// Builds a format of Libra: columns_of(first row) returns the columns of a window for tiles, in tile order;
/// windows are padded to a multiple of `step` columns.
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

}  // namespace sptile::tests
