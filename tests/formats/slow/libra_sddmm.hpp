// Slow builder of libra_sddmm for any threshold.
#pragma once

#include "tests/formats/slow/libra.hpp"

namespace sptile::tests {

/// Blocks of 16 columns, the densest first, with at least `threshold` entries.
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

inline SlowArrays slow_libra_sddmm(const Rows& rows, const formats::FormatView&) {
  return slow_libra_sddmm_at(rows, 24);
}

}  // namespace sptile::tests
