// Small random matrices without values for the tests of orderings.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "formats/core/csr_view.hpp"

namespace sptile::reorder {

/// A matrix without values, row by row.
struct Pattern {
  std::int64_t rows, cols;
  std::vector<std::int64_t> row_ptr = {0};
  std::vector<std::int32_t> col_idx = {};

  [[nodiscard]] formats::CsrView view() const { return {rows, cols, row_ptr, col_idx, {}}; }
  void end_row() { row_ptr.push_back(static_cast<std::int64_t>(col_idx.size())); }
};

/// Each entry is present with probability `density`.
inline Pattern random_pattern(std::int64_t rows, std::int64_t cols, double density, unsigned seed) {
  std::mt19937 random(seed);
  std::bernoulli_distribution filled(density);
  Pattern a{rows, cols};
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int32_t c = 0; c < cols; ++c)
      if (filled(random)) a.col_idx.push_back(c);
    a.end_row();
  }
  return a;
}

}  // namespace sptile::reorder
