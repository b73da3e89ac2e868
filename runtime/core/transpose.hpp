// Transpose of a matrix in host memory, for packages that were not converted offline.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "formats/core/csr_view.hpp"

namespace sptile::runtime {

/// Owns A^T and the position in A of each of its values, so that new values of A also replace those of A^T.
struct TransposedCsr {
  std::int64_t rows = 0, cols = 0, nnz = 0;  ///< dimensions of A^T
  DType dtype = DType::none;                 ///< type of the values; DType::none: a pattern
  std::unique_ptr<std::int64_t[]> row_ptr;
  std::unique_ptr<std::int32_t[]> col_idx;
  std::unique_ptr<std::byte[]> values;        ///< null for a pattern
  std::unique_ptr<std::int64_t[]> positions;  ///< index in A of each entry

  [[nodiscard]] formats::CsrView view() const;
  [[nodiscard]] std::span<const std::int64_t> source() const {
    return {positions.get(), static_cast<std::size_t>(nnz)};
  }
};

/// Transposes a matrix. Rows of the result are sorted. `a` must be a valid CSR matrix, see
/// formats::check_csr. The result does not depend on the number of threads. O(nnz + rows + cols).
TransposedCsr transpose(const formats::CsrView& a);

}  // namespace sptile::runtime
