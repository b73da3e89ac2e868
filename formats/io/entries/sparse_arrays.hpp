// Conversion of matrices in two or three arrays, as other programs store them, to CSR.
#pragma once

#include <string>
#include <string_view>

#include "formats/core/error.hpp"
#include "formats/io/entries/assembled_csr.hpp"
#include "formats/io/read_matrix.hpp"

namespace sptile::formats {

/// csr: row pointers and columns. csc: column pointers and rows. bsr: block row pointers and block columns.
/// coo: a row and a column per entry.
enum class ArrayLayout { csr, csc, coo, bsr };

/// A matrix as arrays with 0-based indices. Ids may be in any order and repeat; values of duplicates
/// are summed.
struct SparseArrays {
  ArrayLayout layout = ArrayLayout::csr;
  std::int64_t rows = 0, cols = 0;              ///< shape of the matrix
  std::int64_t block_rows = 1, block_cols = 1;  ///< bsr: shape of a block; divides rows and cols
  Buffer<std::int64_t> pointers;                ///< absent for coo
  Buffer<std::int32_t> ids;                     ///< valid ids: columns; csc: rows; bsr: block columns
  Buffer<std::int32_t> row_ids;                 ///< coo: valid row ids
  Array values;           ///< one per id; bsr: one row-major block per id; absent for a pattern
  bool integers = false;  ///< values are integers
};

/// Errc::unsupported if there are more than 2^31 - 1 rows or columns.
Status check_matrix_shape(std::int64_t rows, std::int64_t cols);

/// Errc::io if `available` bytes are too few for `per_row` 8-byte numbers per row and `entries` elements of
/// `entry_bytes` bytes.
Status check_copy_memory(std::int64_t rows, std::int64_t per_row, std::int64_t entries,
                         std::int64_t entry_bytes, std::int64_t available);
Status check_copy_memory(std::int64_t rows, std::int64_t per_row, std::int64_t entries,
                         std::int64_t entry_bytes);

/// Returns the length of the dimension indexed by `pointers`: rows, columns (csc) or block rows (bsr).
std::int64_t majors(const SparseArrays& arrays);
/// Returns the exclusive upper bound of `ids`.
std::int64_t minors(const SparseArrays& arrays);

/// Assembles a sorted CSR matrix. Duplicates are summed (16-bit values then become f32), explicit zeros are
/// kept, and a pattern with duplicates gets their counts as values. With `compress_rows`, a coo matrix that
/// is mostly_empty becomes a Csr of its nonempty rows. Errc::bad_input, naming `pointers_name`, if the
/// pointers do not ascend from 0 to the number of ids; Errc::io if memory is short.
Result<AssembledCsr> assemble(SparseArrays&& arrays, std::string_view pointers_name,
                              bool compress_rows = false);

/// Converts the matrix and the findings of its assembly to the result of a reader.
ReadMatrix to_read_matrix(AssembledCsr&& made);

/// Completes a square matrix of which the `lower` or the upper triangle is stored: entry (j, i) becomes equal
/// to entry (i, j), or to its negative if `negated` (skew-symmetric). Errc::bad_input for an entry in the
/// other triangle, or on the diagonal of a skew-symmetric matrix.
Result<Csr> mirror_triangle(const Csr& triangle, bool lower, bool negated);

}  // namespace sptile::formats
