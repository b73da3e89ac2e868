// The transpose of a matrix in host memory, made where there are no offline packages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "formats/core/csr_view.hpp"

namespace sptile::runtime {

/// Owns A^T, and knows where each of its values stands in A: values of A that are replaced replace those of
/// A^T.
struct TransposedCsr {
  std::int64_t rows = 0, cols = 0, nnz = 0;  ///< of A^T
  DType dtype = DType::none;                 ///< of the values; none: a pattern
  std::unique_ptr<std::int64_t[]> row_ptr;
  std::unique_ptr<std::int32_t[]> col_idx;
  std::unique_ptr<std::byte[]> values;        ///< null for a pattern
  std::unique_ptr<std::int64_t[]> positions;  ///< of each entry among those of A

  [[nodiscard]] formats::CsrView view() const;
  [[nodiscard]] std::span<const std::int64_t> source() const {
    return {positions.get(), static_cast<std::size_t>(nnz)};
  }
};

/// Transposes; rows of the result are sorted. `a` must be a valid CSR matrix, see formats::check_csr. The
/// same result for any number of threads. O(nnz + rows + cols).
TransposedCsr transpose(const formats::CsrView& a);

}  // namespace sptile::runtime
