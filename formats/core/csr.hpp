// The owning form of a CSR matrix, and the operations every other part needs.
#pragma once

#include <cstdint>
#include <span>

#include "formats/core/buffer.hpp"
#include "formats/core/csr_view.hpp"
#include "formats/core/error.hpp"

namespace sptile::formats {

/// Owns an M x K matrix in compressed sparse rows; see CsrView for the invariants.
struct Csr {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  Buffer<std::int64_t> row_ptr;
  Buffer<std::int32_t> col_idx;
  Array values;  ///< not present for a pattern matrix

  [[nodiscard]] std::int64_t nnz() const { return col_idx.size(); }
  [[nodiscard]] CsrView view() const { return {rows, cols, row_ptr.span(), col_idx.span(), values.view()}; }
};

/// Makes an independent copy.
Csr copy(const CsrView& a);

/// Transposes; rows of the result are sorted. O(nnz + rows + cols).
Csr transpose(const CsrView& a);

/// Gathers rows: row i of the result is row new_to_old[i] of `a`. O(nnz), parallel.
/// new_to_old must be a permutation of 0..rows-1 (asserted; check_permutation reports it as an error).
Csr permute_rows(const CsrView& a, std::span<const std::int32_t> new_to_old);

/// Verifies that the span is a permutation of 0..n-1; names the first id that is out of range or repeated.
Status check_permutation(std::span<const std::int32_t> new_to_old, std::int64_t n);

/// Sorts the columns of each row, in place and stably; returns how many entries have the place of the one
/// before. Parallel over rows.
std::int64_t sort_columns(Csr& a);

/// Sorts the columns of each row and sums entries that share a row and a column, in place; returns how many
/// entries were merged away. Values of equal position are added in the order in which they stand. Parallel
/// over rows.
std::int64_t sort_and_sum_duplicates(Csr& a);

/// Converts the values (f16, bf16, f32, f64) to another value type, rounding to nearest; a pattern stays a
/// pattern.
Array convert_values(ArrayView values, DType to);

/// True when both have the same shape, structure, value type and value bits.
bool identical(const CsrView& a, const CsrView& b);

}  // namespace sptile::formats
