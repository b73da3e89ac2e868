// Division of a matrix into units of work, with their costs. Decoders number units in the same way:
//   no windows (csr)               a row
//   regular windows                a window, including entries that are stored in its rows
//   windows of varied heights      8 rows
//   scattered windows (rs_tile)    a piece; then each row of entries; then each empty row
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/core/error.hpp"
#include "formats/layout/format_layout.hpp"
#include "runtime/cpu/chunk.hpp"

namespace sptile::runtime {

/// The division of the work of one plan.
struct WorkPlan {
  std::vector<Chunk> chunks;             ///< cover every row and column of C exactly once
  std::vector<std::int32_t> empty_rows;  ///< rows that no unit of the format contains (rs_tile skips them)
};

/// Units after those of the previous run. The columns of a run are divided into ranges, one chunk each.
struct UnitRun {
  std::int64_t last = 0;   ///< end of its units
  std::int64_t parts = 0;  ///< number of chunks
};

/// Approximate number of columns per chunk of divide_columns.
inline constexpr std::int64_t kColumnsPerChunk = 8;

/// Divides the n columns of the operands. Each chunk has all rows of the matrix.
WorkPlan divide_columns(const formats::FormatView& format, std::int64_t n);

/// Divides the product of a checked matrix with n columns for `threads` threads. O(units + chunks log units).
WorkPlan divide_work(const formats::FormatView& format, std::int64_t n, int threads);

/// Returns the runs of a plan of divide_work.
std::vector<UnitRun> runs_of(const WorkPlan& work);

/// Divides a checked matrix by unverified runs. Errc::bad_input, naming the first invalid run, unless they
/// cover all units in order, keep the pieces of a split window together, and create at most
/// max_chunks(threads) chunks. O(units + chunks).
Result<WorkPlan> divide_as(const formats::FormatView& format, std::int64_t n, int threads,
                           std::span<const UnitRun> runs);

}  // namespace sptile::runtime
