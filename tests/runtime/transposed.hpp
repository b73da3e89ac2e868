#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "formats/core/csr.hpp"

namespace sptile::test {

/// The transpose of a matrix, and the index in the matrix of each of its entries.
struct Transposed {
  formats::Csr matrix;
  std::vector<std::int64_t> source;

  explicit Transposed(const formats::Csr& a) {
    std::vector<std::vector<std::pair<std::int32_t, std::int64_t>>> rows(static_cast<std::size_t>(a.cols));
    for (std::int64_t r = 0; r < a.rows; ++r)
      for (std::int64_t k = a.row_ptr[r]; k < a.row_ptr[r + 1]; ++k)
        rows[static_cast<std::size_t>(a.col_idx[k])].emplace_back(static_cast<std::int32_t>(r), k);
    matrix.rows = a.cols;
    matrix.cols = a.rows;
    matrix.row_ptr = formats::Buffer<std::int64_t>(a.cols + 1);
    matrix.col_idx = formats::Buffer<std::int32_t>(a.nnz());
    matrix.row_ptr[0] = 0;
    for (std::int64_t r = 0; r < a.cols; ++r) {
      for (const auto& [column, k] : rows[static_cast<std::size_t>(r)]) {
        matrix.col_idx[std::ssize(source)] = column;
        source.push_back(k);
      }
      matrix.row_ptr[r + 1] = std::ssize(source);
    }
  }
};

}  // namespace sptile::test
