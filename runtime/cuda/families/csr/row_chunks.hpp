// Rows of consecutive nonzeros: a bit per nonzero marks the last one of each row, so that kernels divide
// nonzeros independently of rows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sptile::runtime::cuda {

/// Nonzeros of a chunk. Chunks start at multiples of it.
inline constexpr int kRowChunk = 32;

/// 32 consecutive nonzeros.
struct RowChunk {
  std::uint32_t ends;  ///< bit i: nonzero i is the last one of its row
  std::int32_t row;    ///< row of nonzero 0: an index in the list of rows that are not empty
  bool operator==(const RowChunk&) const = default;
};

/// The chunks of a matrix.
struct RowChunks {
  std::vector<RowChunk> chunks;
  std::vector<std::int32_t> rows;   ///< rows that are not empty; nothing is listed if no row is empty
  std::vector<std::int32_t> empty;  ///< empty rows
  std::int64_t row_count = 0;       ///< rows that are not empty
};

/// Divides the nonzeros of rows into chunks. O(rows + nnz / 32).
RowChunks row_chunks(std::span<const std::int64_t> row_ptr);

}  // namespace sptile::runtime::cuda
