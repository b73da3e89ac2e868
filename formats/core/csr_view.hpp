// The borrowed form of a CSR matrix: what every conversion and every reference algorithm reads.
#pragma once

#include <cstdint>
#include <span>

#include "formats/core/array_view.hpp"

namespace sptile::formats {

/// Borrows an M x K matrix in compressed sparse rows. Values are typed at run time: structure never depends
/// on them.
struct CsrView {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::span<const std::int64_t> row_ptr;  ///< rows + 1 entries, row_ptr[0] == 0, non-decreasing
  std::span<const std::int32_t> col_idx;  ///< strictly increasing within each row
  ArrayView values;  ///< one per entry; not present for a pattern matrix (each entry is 1)

  [[nodiscard]] std::int64_t nnz() const { return static_cast<std::int64_t>(col_idx.size()); }
  [[nodiscard]] bool is_pattern() const { return !values.present(); }
  [[nodiscard]] std::int64_t row_nnz(std::int64_t r) const {
    return row_ptr[static_cast<std::size_t>(r) + 1] - row_ptr[static_cast<std::size_t>(r)];
  }
};

}  // namespace sptile::formats
