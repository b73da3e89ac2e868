// Slow builder of libra_spmm for any threshold.
#pragma once

#include "tests/formats/slow/libra.hpp"

namespace sptile::tests {

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

inline SlowArrays slow_libra_spmm(const Rows& rows, const formats::FormatView&) {
  return slow_libra_spmm_at(rows, 3);
}

}  // namespace sptile::tests
