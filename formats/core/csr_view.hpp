// Non-owning CSR matrix: the input of every conversion and reference algorithm.
#pragma once

#include <cstdint>
#include <span>

#include "formats/core/array_view.hpp"

namespace sptile::formats {

/// Borrows an M x K matrix in compressed sparse rows. The type of the values is known at run time;
/// structure-only code ignores it.
struct CsrView {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::span<const std::int64_t> row_ptr;  ///< rows + 1 elements, row_ptr[0] == 0, non-decreasing
  std::span<const std::int32_t> col_idx;  ///< strictly increasing within each row
  ArrayView values;  ///< one per nonzero; absent for a pattern matrix (all nonzeros are 1)

  [[nodiscard]] std::int64_t nnz() const { return static_cast<std::int64_t>(col_idx.size()); }
  [[nodiscard]] bool is_pattern() const { return !values.present(); }
  [[nodiscard]] std::int64_t row_nnz(std::int64_t r) const {
    return row_ptr[static_cast<std::size_t>(r) + 1] - row_ptr[static_cast<std::size_t>(r)];
  }
};

}  // namespace sptile::formats
