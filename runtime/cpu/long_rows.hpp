// Rows of csr that are too long for one thread. Products of few columns split them into pieces, which are
// summed as rows of their own; a column of the result is then the sum of the pieces, in their order. The
// split depends on the matrix alone, so bits depend neither on threads nor on the division of work.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/core/csr_view.hpp"
#include "runtime/cpu/chunk.hpp"
#include "runtime/cpu/cpu_kernels.hpp"

namespace sptile::runtime {

/// Products of more columns are divided by columns.
inline constexpr std::int64_t kMostSplitColumns = 16;
/// A matrix has fewer pieces.
inline constexpr std::int64_t kMostPieces = 400;

/// Type of the sums of a product with dense operands of this type.
constexpr DType sum_type(DType operands) { return operands == DType::f64 ? DType::f64 : DType::f32; }

/// A piece of a row: nonzeros [entries[0], entries[1]).
struct RowPiece {
  std::int64_t row = 0;  ///< in the order of the format
  std::int64_t entries[2] = {0, 0};
};

/// Returns the pieces of all long rows, in order. O(rows).
std::vector<RowPiece> split_long_rows(const formats::CsrView& csr);

/// Takes the rows that have pieces out of the chunks.
std::vector<Chunk> without_rows(const std::vector<Chunk>& chunks, const std::vector<RowPiece>& pieces);

/// Sums of all pieces, piece by piece.
struct alignas(64) PieceSums {
  double numbers[kMostPieces * kMostSplitColumns];  ///< or floats, as the kernels sum
};

/// Computes the sums of one piece; `run` is the kernel whose results have the type of the sums.
void sum_piece(const Task& task, ChunkFn run, const RowPiece& piece, void* sums);

/// Writes the rows: alpha * sum + beta * C, for a C of this type.
void write_long_rows(const Task& task, DType result, const std::vector<RowPiece>& pieces,
                     const PieceSums& sums);

}  // namespace sptile::runtime
