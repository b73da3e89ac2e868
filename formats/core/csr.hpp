// Owning CSR matrix and its basic operations.
#pragma once

#include <cstdint>
#include <span>

#include "formats/core/buffer.hpp"
#include "formats/core/csr_view.hpp"
#include "formats/core/error.hpp"

namespace sptile::formats {

/// Owns an M x K matrix in CSR; CsrView states the invariants.
struct Csr {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  Buffer<std::int64_t> row_ptr;
  Buffer<std::int32_t> col_idx;
  Array values;  ///< absent for a pattern matrix

  [[nodiscard]] std::int64_t nnz() const { return col_idx.size(); }
  [[nodiscard]] CsrView view() const { return {rows, cols, row_ptr.span(), col_idx.span(), values.view()}; }
};

/// Returns an independent copy.
Csr copy(const CsrView& a);

/// Returns the transpose, with sorted rows. O(nnz + rows + cols).
Csr transpose(const CsrView& a);

/// Gathers rows: row i of the result is row new_to_old[i] of `a`. O(nnz), parallel. new_to_old must be a
/// permutation of 0..rows-1 (asserted; check_permutation reports it as an error).
Csr permute_rows(const CsrView& a, std::span<const std::int32_t> new_to_old);

/// Verifies that the span is a permutation of 0..n-1; names the first id that is out of range or repeated.
Status check_permutation(std::span<const std::int32_t> new_to_old, std::int64_t n);

/// Sorts the columns of each row, in place and stably. Returns the number of entries that repeat the previous
/// column. Parallel over rows.
std::int64_t sort_columns(Csr& a);

/// Sorts the columns of each row and sums duplicates (same row and column), in place. Returns the number of
/// entries removed. Duplicates are added in their original order. Parallel over rows.
std::int64_t sort_and_sum_duplicates(Csr& a);

/// Converts f16, bf16, f32 or f64 values to another value type, rounding to nearest. Absent values stay
/// absent.
Array convert_values(ArrayView values, DType to);

/// Returns whether both matrices have the same shape, structure, value type and bits of values.
bool identical(const CsrView& a, const CsrView& b);

}  // namespace sptile::formats
