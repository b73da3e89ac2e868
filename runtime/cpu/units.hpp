// How a matrix divides into units of work, and what they cost. Decoders number units as they are divided
// here:
//   no windows (csr)               a row
//   regular windows                a window, with the entries that stand in its rows
//   windows of varied heights      8 rows
//   scattered windows (rs_tile)    a piece; then each row of entries; then each row without any
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/core/error.hpp"
#include "formats/layout/format_layout.hpp"
#include "runtime/cpu/chunk.hpp"

namespace sptile::runtime {

/// The work of one plan.
struct WorkPlan {
  std::vector<Chunk> chunks;             ///< cover every row and every column of C exactly once
  std::vector<std::int32_t> empty_rows;  ///< rows that no unit of the format holds (rs_tile skips them)
};

/// Units that follow those of the previous run. The columns of a run are cut into ranges, a chunk each.
struct UnitRun {
  std::int64_t last = 0;   ///< end of its units
  std::int64_t parts = 0;  ///< chunks
};

/// Columns of a chunk of divide_columns, about.
inline constexpr std::int64_t kColumnsPerChunk = 8;

/// Divides the columns of operands with n of them; each chunk has all rows of the matrix.
WorkPlan divide_columns(const formats::FormatView& format, std::int64_t n);

/// Divides the product of a checked matrix with n columns for `threads` threads; O(units + chunks log units).
WorkPlan divide_work(const formats::FormatView& format, std::int64_t n, int threads);

/// Returns the runs of a plan of divide_work.
std::vector<UnitRun> runs_of(const WorkPlan& work);

/// Divides a checked matrix as the runs say, whatever they are. Errc::bad_input, naming the first wrong run,
/// unless they cover all units in order, keep the pieces of a split window together, and make at most
/// most_chunks(threads) chunks. O(units + chunks).
Result<WorkPlan> divide_as(const formats::FormatView& format, std::int64_t n, int threads,
                           std::span<const UnitRun> runs);

}  // namespace sptile::runtime
