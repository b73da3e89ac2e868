// Schedules of formats with tiles for a tile kernel and residual rows for the csr kernel.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/layout/blocks.hpp"
#include "runtime/cuda/collective/csr_schedule.hpp"
#include "runtime/cuda/families/tile/schedule.hpp"

namespace sptile::runtime::cuda {

/// Schedule of the residual rows; `..._at` are offsets in Schedule::bytes.
struct ResidualHeader {
  CsrHeader csr;
  std::int64_t ids_at = 0, entries_at = 0;
  bool all = false;  ///< they are all rows of the matrix, so that their ids are not loaded
};

/// Header of the schedule of both kernels.
struct HybridHeader {
  TileHeader tiles;
  ResidualHeader rows;
};

/// Interleaves the blocks of a launch evenly: block b has rows if rows_before(b + 1) exceeds rows_before(b).
struct MixedGrid {
  std::uint32_t blocks, row_blocks;
  std::uint32_t row_blocks_of_slice;

  /// Returns the number of blocks with rows among the first `count`.
  SPTILE_HOST_DEVICE std::uint32_t rows_before(std::uint32_t count) const {
    return static_cast<std::uint32_t>(std::uint64_t{count} * row_blocks / blocks);
  }
};

/// Rows that the residual part writes, ascending: those with residual entries, and all rows of windows
/// without tiles. Rows of windows with tiles are stored as ~row, because the sums of the tiles are written
/// before.
struct ResidualRows {
  std::vector<std::int32_t> ids;
  std::vector<std::int64_t> entries;  ///< first residual entry of each row, and the end
};

/// Returns the residual rows; none if there are no residual entries, when the TC part writes all of C.
/// O(rows).
ResidualRows residual_rows(const formats::Blocks& blocks, std::int64_t rows);

/// Divides the residual part for dense operands of a type; `lanes` as in CsrRows.
ResidualHeader append_residual(Schedule& schedule, const formats::FormatView& format, DType dense,
                               std::int64_t n, const DeviceInfo& device, int lanes = 0);

/// Returns the cost of the residual rows in tiles of 8 columns: one row of B or C per nonzero and row.
std::int64_t rows_in_tiles(const formats::FormatView& format);

/// Stored numbers of a header: for two launches, or one for both parts.
inline constexpr std::uint32_t kHybridVersion = 1, kMixedVersion = 1;
std::vector<std::int64_t> hybrid_numbers(const HybridHeader& header);

/// Restores the result of append_residual and validates it, as read_csr does.
ResidualHeader read_residual(ScheduleReader& reader, Schedule& schedule, const formats::FormatView& format,
                             DType dense, std::int64_t n, int lanes = 0);

}  // namespace sptile::runtime::cuda
