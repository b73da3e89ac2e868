// Small structures for tests of orderings.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <span>
#include <vector>

#include "formats/core/csr_view.hpp"
#include "formats/core/random.hpp"

namespace sptile::tests {

/// A structure without values.
struct Pattern {
  std::int64_t rows = 0, cols = 0;
  std::vector<std::int64_t> row_ptr = {0};
  std::vector<std::int32_t> col_idx;

  void add_row(std::set<std::int32_t> columns) {
    col_idx.insert(col_idx.end(), columns.begin(), columns.end());
    row_ptr.push_back(static_cast<std::int64_t>(col_idx.size()));
    ++rows;
  }
  [[nodiscard]] formats::CsrView view() const { return {rows, cols, row_ptr, col_idx, {}}; }
};

/// Returns rows with at most `longest` entries in random columns, skewed towards the first ones.
inline Pattern random_pattern(std::int64_t rows, std::int64_t cols, std::int64_t longest,
                              std::uint64_t seed) {
  Pattern a;
  a.cols = cols;
  for (std::int64_t r = 0; r < rows; ++r) {
    RandomStream random(seed, static_cast<std::uint64_t>(r));
    std::set<std::int32_t> columns;
    for (std::int64_t left = random.below(longest + 1); left > 0; --left)
      columns.insert(static_cast<std::int32_t>(random.below(1 + random.below(cols))));
    a.add_row(columns);
  }
  return a;
}

/// Returns groups of `group` equal rows with `length` columns that no other group uses, shuffled: the optimal
/// windows are known.
inline Pattern planted_groups(std::int64_t groups, std::int64_t group, std::int64_t length,
                              std::uint64_t seed) {
  Pattern a;
  a.cols = groups * length;
  for (const std::int32_t row : random_permutation(groups * group, RandomStream(seed))) {
    std::set<std::int32_t> columns;
    for (std::int64_t k = 0; k < length; ++k)
      columns.insert(static_cast<std::int32_t>(row / group * length + k));
    a.add_row(columns);
  }
  return a;
}

/// Returns the number of distinct columns of some rows, by a set.
inline std::int64_t distinct_columns(const Pattern& a, std::span<const std::int32_t> rows) {
  std::set<std::int32_t> columns;
  for (const std::int32_t row : rows)
    columns.insert(a.col_idx.begin() + a.row_ptr[static_cast<std::size_t>(row)],
                   a.col_idx.begin() + a.row_ptr[static_cast<std::size_t>(row) + 1]);
  return static_cast<std::int64_t>(columns.size());
}

inline std::vector<std::int32_t> given_order(std::int64_t rows) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(rows));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

}  // namespace sptile::tests
