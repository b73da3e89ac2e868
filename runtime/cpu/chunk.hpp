// Unit of scheduling: a range of units (rows or windows) times a range of columns of B.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "formats/layout/format_layout.hpp"

namespace sptile::runtime {

/// Units [first, last) of a format, multiplied by columns [first_col, last_col) of B. The kernel of the
/// format defines a unit: a row of csr, a window of a tile format.
struct Chunk {
  std::int64_t first = 0, last = 0;
  std::int64_t first_col = 0, last_col = 0;
};

/// Returns the cost of all units before `unit`, in entries; non-decreasing.
using CostBefore = std::function<std::int64_t(std::int64_t unit)>;

/// Cost of writing one row of C, in entries: the memory traffic is that of reading about three rows of B.
inline constexpr std::int64_t kRowCost = 3;

/// Appends chunks of about `target` cost that cover units [first, last) and all n columns, in order. A unit
/// far above the target is split by columns, never by entries, so each element of C is computed by one thread
/// and its bits do not depend on the division. O(chunks log units).
void append_chunks(std::vector<Chunk>& chunks, std::int64_t first, std::int64_t last, std::int64_t n,
                   const CostBefore& cost_before, std::int64_t target);

/// Appends the chunks of units [first, last) with the n columns split into `parts` nearly equal ranges, at
/// most column_steps(n).
void append_by_columns(std::vector<Chunk>& chunks, std::int64_t first, std::int64_t last, std::int64_t n,
                       std::int64_t parts);

/// Returns the maximum number of ranges that n columns are split into.
std::int64_t column_steps(std::int64_t n);

/// Returns an upper bound of the number of chunks that append_chunks creates for up to three ranges of units
/// with the target of chunk_target.
std::int64_t max_chunks(int threads);

/// Returns the target cost per chunk: several chunks per thread for load balance, but none so small that
/// scheduling dominates.
std::int64_t chunk_target(std::int64_t total_cost, std::int64_t n, int threads);

}  // namespace sptile::runtime
