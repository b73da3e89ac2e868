// Parallel construction of CSR from rows whose lengths are known only after they are drawn.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "tools/gen/assemble.hpp"

namespace sptile::tools::gen {

/// Columns of a row in the order of the draws, possibly repeated.
using DrawnColumns = std::vector<std::int32_t>;

/// Builds a pattern from `draw(r, columns)`, which appends the columns of row r. Sorts each row and merges
/// repeated columns. Needs 4 bytes per entry in addition to the result.
template <class Draw>
formats::Csr csr_by_drawn_rows(std::int64_t rows, std::int64_t cols, const Draw& draw, Progress* progress) {
  constexpr std::int64_t kPartRows = 1024;
  const std::int64_t parts = (rows + kPartRows - 1) / kPartRows;
  formats::Csr a;
  a.rows = rows;
  a.cols = cols;
  a.row_ptr = row_pointers(rows);
  a.row_ptr[0] = 0;
  std::vector<DrawnColumns> columns(static_cast<std::size_t>(parts));
  for_each_counted(progress, "generate", parts, [&](std::int64_t part) {
    DrawnColumns& all = columns[static_cast<std::size_t>(part)];
    DrawnColumns row;
    for (std::int64_t r = part * kPartRows; r < std::min(rows, (part + 1) * kPartRows); ++r) {
      row.clear();
      draw(r, row);
      std::sort(row.begin(), row.end());
      row.erase(std::unique(row.begin(), row.end()), row.end());
      all.insert(all.end(), row.begin(), row.end());
      a.row_ptr[r + 1] = static_cast<std::int64_t>(row.size());
    }
  });
  std::partial_sum(a.row_ptr.begin(), a.row_ptr.end(), a.row_ptr.begin());
  a.col_idx = formats::Buffer<std::int32_t>(a.row_ptr[rows]);
  for_each_counted(progress, "join", parts, [&](std::int64_t part) {
    const DrawnColumns all = std::exchange(columns[static_cast<std::size_t>(part)], {});
    std::copy(all.begin(), all.end(), a.col_idx.data() + a.row_ptr[part * kPartRows]);
  });
  return a;
}

}  // namespace sptile::tools::gen
