// Matrices of which only the rows with entries are kept: most rows of a huge shape have none.
#pragma once

#include <cstdint>

#include "formats/core/buffer.hpp"

namespace sptile::formats {

/// Which rows of a matrix a Csr has that keeps only those with entries. Its columns are those of the matrix.
struct NonemptyRows {
  std::int64_t rows = 0;     ///< of the matrix
  Buffer<std::int32_t> ids;  ///< of the rows of the Csr, ascending
};

/// Only the rows with entries are kept where the matrix has more than this number of rows per entry.
inline constexpr std::int64_t kRowsPerEntry = 1024;

/// True where a matrix has few entries for its rows. Such a matrix has fewer than 2^21 entries.
constexpr bool mostly_empty(std::int64_t rows, std::int64_t entries) {
  return rows / kRowsPerEntry > entries;
}

}  // namespace sptile::formats
