// Batches of matrices for tests, and the joined matrix, entry by entry.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "runtime/core/batch.hpp"
#include "tests/runtime/random_problem.hpp"

namespace sptile::test {

/// Returns the joined matrix, computed independently of the library.
inline formats::Csr joined_by_entries(const std::vector<formats::Csr>& parts,
                                      runtime::Arrangement arrangement) {
  const bool diagonal = arrangement == runtime::Arrangement::block_diagonal;
  std::vector<std::int64_t> row_ptr{0};
  std::vector<std::int32_t> col_idx;
  std::vector<std::byte> values;
  std::int64_t cols = 0;
  for (const formats::Csr& part : parts) {
    const std::int64_t first = diagonal ? cols : 0;
    for (std::int64_t r = 0; r < part.rows; ++r) {
      for (std::int64_t i = part.row_ptr[r]; i < part.row_ptr[r + 1]; ++i)
        col_idx.push_back(static_cast<std::int32_t>(first + part.col_idx[i]));
      row_ptr.push_back(std::ssize(col_idx));
    }
    const auto* bytes = static_cast<const std::byte*>(part.values.data());
    values.insert(values.end(), bytes, bytes + part.values.view().bytes());
    cols = first + part.cols;
  }
  formats::Csr whole{std::ssize(row_ptr) - 1,
                     cols,
                     formats::Buffer<std::int64_t>(std::ssize(row_ptr)),
                     formats::Buffer<std::int32_t>(std::ssize(col_idx)),
                     {}};
  std::copy(row_ptr.begin(), row_ptr.end(), whole.row_ptr.begin());
  std::copy(col_idx.begin(), col_idx.end(), whole.col_idx.begin());
  if (parts.front().values.present()) {
    whole.values = formats::Array(parts.front().values.dtype(), whole.nnz());
    if (!values.empty()) std::memcpy(whole.values.data(), values.data(), values.size());
  }
  return whole;
}

/// Returns batches of one matrix, of many, with matrices without rows, columns or entries at the start, in
/// the middle and at the end, and of only those. Stacked ones have 9 columns.
inline std::vector<std::vector<formats::Csr>> batches_of_parts(DType dtype, runtime::Arrangement arrangement,
                                                               Random& random) {
  using Shapes = std::vector<RandomShape>;
  const bool stacked = arrangement == runtime::Arrangement::stacked;
  std::vector<std::vector<formats::Csr>> batches;
  for (const Shapes& shapes :
       {Shapes{{7, 9, 0.3}}, Shapes(100, {4, 4, 0.4}),
        Shapes{
            {0, 0, 0}, {3, 5, 0.5}, {0, 7, 0}, {6, 0, 0}, {1, 300, 0.2}, {4, 4, 0}, {50, 2, 0.9}, {0, 0, 0}},
        Shapes{{3, 3, 0}, {2, 8, 0}}, Shapes{{0, 0, 0}, {0, 0, 0}}}) {
    std::vector<formats::Csr>& parts = batches.emplace_back();
    for (const RandomShape& shape : shapes)
      parts.push_back(random_matrix(shape.rows, stacked ? 9 : shape.cols, shape.density, dtype, random));
  }
  return batches;
}

}  // namespace sptile::test
