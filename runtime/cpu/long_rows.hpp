// Rows of csr that are too long for one thread. Products of few columns split them into segments, which are
// summed separately and then added in order. The split depends on the matrix alone, so the bits of the result
// depend neither on the number of threads nor on the division of work.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/core/csr_view.hpp"
#include "runtime/cpu/chunk.hpp"
#include "runtime/cpu/cpu_kernels.hpp"

namespace sptile::runtime {

/// Maximum columns for which long rows are split; wider products are divided by columns.
inline constexpr std::int64_t kMaxSplitColumns = 16;
/// Upper bound of the number of segments of a matrix.
inline constexpr std::int64_t kMaxPieces = 400;

/// Returns the accumulator type of a product with dense operands of this type.
constexpr DType sum_type(DType operands) { return operands == DType::f64 ? DType::f64 : DType::f32; }

/// A segment of a row: nonzeros [entries[0], entries[1]).
struct RowPiece {
  std::int64_t row = 0;  ///< in the order of the format
  std::int64_t entries[2] = {0, 0};
};

/// Returns the segments of all long rows, in order. O(rows).
std::vector<RowPiece> split_long_rows(const formats::CsrView& csr);

/// Removes the rows with segments from the chunks.
std::vector<Chunk> without_rows(const std::vector<Chunk>& chunks, const std::vector<RowPiece>& pieces);

/// Partial sums of all segments, in order.
struct alignas(64) PieceSums {
  double numbers[kMaxPieces * kMaxSplitColumns];  ///< or floats, depending on the accumulator type
};

/// Computes the sums of one segment. `run` is the kernel with results of the accumulator type.
void sum_piece(const Task& task, ChunkFn run, const RowPiece& piece, void* sums);

/// Writes alpha * sum + beta * C to the split rows of a C of type `result`.
void write_long_rows(const Task& task, DType result, const std::vector<RowPiece>& pieces,
                     const PieceSums& sums);

}  // namespace sptile::runtime
