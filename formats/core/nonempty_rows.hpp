// Matrices that store only their nonempty rows, for shapes with many more rows than nonzeros.
#pragma once

#include <cstdint>

#include "formats/core/buffer.hpp"

namespace sptile::formats {

/// Maps the rows of a Csr that stores only nonempty rows to rows of the matrix. Columns are unchanged.
struct NonemptyRows {
  std::int64_t rows = 0;     ///< rows of the matrix
  Buffer<std::int32_t> ids;  ///< matrix row of each Csr row, ascending
};

/// Empty rows are dropped if the matrix has more than this number of rows per nonzero.
inline constexpr std::int64_t kRowsPerEntry = 1024;

/// Returns whether a matrix has so few nonzeros that empty rows are dropped. Implies nnz < 2^21.
constexpr bool mostly_empty(std::int64_t rows, std::int64_t entries) {
  return rows / kRowsPerEntry > entries;
}

}  // namespace sptile::formats
