// Slow builder of hc_window with any selector.
#pragma once

#include <cmath>

#include "formats/layout/hc_rules.hpp"
#include "tests/formats/slow/slow.hpp"

namespace sptile::tests {

/// Evaluates the selector's rule literally, for windows of 16 rows.
inline double slow_sum(const formats::HcSelector& selector, std::size_t columns, std::size_t entries) {
  const double c = static_cast<double>(columns), s = 1 - static_cast<double>(entries) / (16 * c);
  return selector.constant + selector.sparsity * s + selector.columns * c / 16;
}

inline bool slow_on_cuda_cores(const formats::HcSelector& selector, std::size_t columns,
                               std::size_t entries) {
  return columns == 0 ||
         slow_sum(selector, columns, entries) > 1e-9;  // a sum of exactly 0 may be slightly above it
}

inline std::size_t count_entries(const Rows& rows, std::size_t first, std::size_t end) {
  std::size_t entries = 0;
  for (std::size_t r = first; r < end; ++r) entries += rows[r].size();
  return entries;
}

/// Returns the settled selector of a matrix: unchanged if both kinds of windows gain more than an eighth of
/// the time of all entries on CUDA cores, otherwise the kind that gains more.
inline formats::HcSelector slow_settled(const Rows& rows, const formats::HcSelector& selector) {
  if (!selector.settles) return selector;
  double cuda = 0, tensor = 0;
  for (std::size_t first = 0; first < rows.size(); first += 16) {
    const std::size_t end = std::min(first + 16, rows.size());
    const std::size_t columns = distinct_columns(rows, first, end).size();
    if (columns == 0) continue;
    const double sum = slow_sum(selector, columns, count_entries(rows, first, end)),
                 gain = sum * 16 * static_cast<double>(columns);
    (gain > 0 ? cuda : tensor) += std::abs(gain);
  }
  const double all = std::abs(selector.sparsity) * static_cast<double>(count_entries(rows, 0, rows.size()));
  if (std::min(cuda, tensor) > all / 8 + 1e-6) return selector;
  return cuda > tensor + 1e-6 ? formats::kHcAllCuda : formats::kHcAllTensor;
}

inline SlowArrays slow_hc_window_at(const Rows& rows, const formats::HcSelector& given) {
  const formats::HcSelector selector = slow_settled(rows, given);
  const Cells cells = cells_of(rows);
  SlowArrays arrays{{"row_window_offset", {0}},
                    {"tc_offset", {0}},
                    {"bitmap", {}},
                    {"col_id", {}},
                    {"values", {}},
                    {"row_id", {}},
                    {"row_offset", {0}},
                    {"row_col_id", {}},
                    {"row_values", {}}};
  for (std::size_t first = 0; first < rows.size(); first += 16) {
    const std::size_t end = std::min(first + 16, rows.size());
    const bool cuda = slow_on_cuda_cores(selector, distinct_columns(rows, first, end).size(),
                                         count_entries(rows, first, end));
    for (const SlowTile& tile : cuda ? std::vector<SlowTile>() : tiles_of(rows, first, 16)) {
      std::uint64_t masks[2] = {};
      visit_cells(cells, tile, first, 0, 16, 0, 8, [&](std::size_t r, std::size_t c, std::uint64_t position) {
        masks[r / 8] |= std::uint64_t{1} << (8 * (r % 8) + c);
        arrays["values"].push_back(position);
      });
      arrays["bitmap"].insert(arrays["bitmap"].end(), masks, masks + 2);
      arrays["col_id"].insert(arrays["col_id"].end(), tile.columns.begin(), tile.columns.end());
      arrays["tc_offset"].push_back(arrays["values"].size());
    }
    arrays["row_window_offset"].push_back(arrays["tc_offset"].size() - 1);
    for (std::size_t r = first; cuda && r < end; ++r) {
      if (rows[r].empty()) continue;
      for (const std::int32_t c : rows[r]) {
        arrays["row_col_id"].push_back(static_cast<std::uint64_t>(c));
        arrays["row_values"].push_back(cells.at({static_cast<std::int64_t>(r), c}));
      }
      arrays["row_id"].push_back(r);
      arrays["row_offset"].push_back(arrays["row_col_id"].size());
    }
  }
  return arrays;
}

inline SlowArrays slow_hc_window(const Rows& rows, const formats::FormatView&) {
  return slow_hc_window_at(rows, formats::kHcFitted);
}

}  // namespace sptile::tests
