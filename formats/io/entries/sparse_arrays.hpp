// Matrices as other programs keep them, in two or three arrays, made into CSR.
#pragma once

#include <string>
#include <string_view>

#include "formats/core/error.hpp"
#include "formats/io/entries/assembled_csr.hpp"
#include "formats/io/read_matrix.hpp"

namespace sptile::formats {

/// csr: pointers to each row's columns; csc: to each column's rows; bsr: to each block row's block columns;
/// coo: a row and a column for each entry.
enum class ArrayLayout { csr, csc, coo, bsr };

/// Indices count from 0. Ids stand in any order and may come twice: values of one place are summed.
struct SparseArrays {
  ArrayLayout layout = ArrayLayout::csr;
  std::int64_t rows = 0, cols = 0;              ///< of the matrix
  std::int64_t block_rows = 1, block_cols = 1;  ///< bsr: of a block; they divide rows and cols
  Buffer<std::int64_t> pointers;                ///< not of coo
  Buffer<std::int32_t> ids;                     ///< in range: columns, of csc rows, of bsr block columns
  Buffer<std::int32_t> row_ids;                 ///< coo: in range
  Array values;                                 ///< one an id, a block of bsr by rows; not there: a pattern
  bool integers = false;                        ///< the values are integers
};

/// Errc::unsupported for more than 2^31 - 1 rows or columns.
Status check_matrix_shape(std::int64_t rows, std::int64_t cols);

/// Errc::io where `per_row` numbers of 8 bytes for each row and arrays of `entries` do not fit in the memory
/// that is available.
Status check_copy_memory(std::int64_t rows, std::int64_t per_row, std::int64_t entries,
                         std::int64_t entry_bytes, std::int64_t available);
Status check_copy_memory(std::int64_t rows, std::int64_t per_row, std::int64_t entries,
                         std::int64_t entry_bytes);

/// What `pointers` point from: rows, columns of csc, block rows of bsr.
std::int64_t majors(const SparseArrays& arrays);
/// What `ids` may be less than.
std::int64_t minors(const SparseArrays& arrays);

/// Makes CSR: sorted, summed (values of 16 bits then are f32), zeros kept; a pattern with repeated entries
/// gets their counts. Errc::bad_input, naming `pointers_name`, where the pointers do not ascend from 0 to the
/// number of ids; Errc::io where memory is short. With `compress_rows`, a list of entries (coo) of a matrix
/// that is mostly_empty becomes a Csr of its rows with entries.
Result<AssembledCsr> assemble(SparseArrays&& arrays, std::string_view pointers_name,
                              bool compress_rows = false);

/// What a reader gives of a matrix and what was noticed while it was made.
ReadMatrix to_read_matrix(AssembledCsr&& made);

/// Makes a square matrix whole of which the `lower` or the upper triangle is stored: entry (j, i) is entry
/// (i, j), `negated` of a skew-symmetric one. Errc::bad_input for an entry in the other triangle, and on the
/// diagonal of a skew-symmetric matrix.
Result<Csr> mirror_triangle(const Csr& triangle, bool lower, bool negated);

}  // namespace sptile::formats
