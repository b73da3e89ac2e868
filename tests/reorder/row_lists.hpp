// Small matrices given by the columns of each row.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "formats/core/csr.hpp"
#include "formats/core/random.hpp"

namespace sptile::reorder {

using RowLists = std::vector<std::vector<std::int32_t>>;

inline formats::Csr matrix_of(const RowLists& rows, std::int64_t cols) {
  const auto count = static_cast<std::int64_t>(rows.size());
  formats::Csr a{count, cols, formats::Buffer<std::int64_t>(count + 1), {}, {}};
  a.row_ptr[0] = 0;
  for (std::int64_t r = 0; r < count; ++r)
    a.row_ptr[r + 1] = a.row_ptr[r] + static_cast<std::int64_t>(rows[static_cast<std::size_t>(r)].size());
  a.col_idx = formats::Buffer<std::int32_t>(a.row_ptr[count]);
  for (std::int64_t r = 0; r < count; ++r)
    std::ranges::copy(rows[static_cast<std::size_t>(r)], a.col_idx.data() + a.row_ptr[r]);
  return a;
}

/// Returns groups of `height` rows with the same `width` columns, disjoint between groups, and shuffled with
/// `seed`.
inline formats::Csr shuffled_groups(std::int64_t groups, std::int64_t height, std::int32_t width,
                                    std::uint64_t seed) {
  RowLists rows;
  for (const std::int32_t r : random_permutation(groups * height, RandomStream(seed))) {
    rows.emplace_back();
    for (std::int32_t c = 0; c < width; ++c)
      rows.back().push_back(static_cast<std::int32_t>(r / height) * width + c);
  }
  return matrix_of(rows, groups * width);
}

}  // namespace sptile::reorder
