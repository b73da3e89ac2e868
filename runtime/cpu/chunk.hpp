// The unit of scheduling: a run of units (rows or windows) times a range of columns of B.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "formats/layout/format_layout.hpp"

namespace sptile::runtime {

/// Units [first, last) of a format, multiplied by columns [first_col, last_col) of B. What a unit is, the
/// format's kernel says: a row of csr, a window of a tile format.
struct Chunk {
  std::int64_t first = 0, last = 0;
  std::int64_t first_col = 0, last_col = 0;
};

/// Tells how much work the units before `unit` are, in entries; non-decreasing.
using CostBefore = std::function<std::int64_t(std::int64_t unit)>;

/// Cost of writing one row of C, in entries: it moves as many bytes as reading about three rows of B.
inline constexpr std::int64_t kRowCost = 3;

/// Appends chunks that cover units [first, last) and all n columns, in order, each of about `target` cost. A
/// unit far above the target is cut by columns, never by entries: every element of C stays the work of one
/// thread, so the bits of the result do not depend on the cuts. O(chunks log units).
void append_chunks(std::vector<Chunk>& chunks, std::int64_t first, std::int64_t last, std::int64_t n,
                   const CostBefore& cost_before, std::int64_t target);

/// Appends the chunks of units [first, last) with the n columns cut into `parts` nearly equal ranges, at most
/// column_steps(n).
void append_by_columns(std::vector<Chunk>& chunks, std::int64_t first, std::int64_t last, std::int64_t n,
                       std::int64_t parts);

/// Returns the maximum number of ranges that n columns are cut into.
std::int64_t column_steps(std::int64_t n);

/// Returns an upper bound of the number of chunks that append_chunks makes of up to three runs of units with
/// the cost that chunk_target chooses.
std::int64_t most_chunks(int threads);

/// Chooses the cost per chunk: some for each thread to even out, none so small that taking it costs more than
/// doing it.
std::int64_t chunk_target(std::int64_t total_cost, std::int64_t n, int threads);

}  // namespace sptile::runtime
