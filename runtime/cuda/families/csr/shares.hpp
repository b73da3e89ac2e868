// Division of the nonzeros of csr into equal shares, for kernels of any distribution of row lengths. A block
// has entire rows with about the same number of nonzeros, or a segment of a longer row. Its groups of lanes
// have equal numbers of consecutive nonzeros, wherever rows end: a bit per nonzero marks the last one of each
// row (HP-SpMM, Fan, Wang and Chu, IPDPS 2023, stores the row of each nonzero instead).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/cuda/collective/csr_schedule.hpp"
#include "runtime/cuda/device_kernel.hpp"
#include "runtime/cuda/families/csr/policy.hpp"
#include "runtime/cuda/families/csr/row_chunks.hpp"

namespace sptile::runtime::cuda {

inline constexpr std::string_view kCsrShares = "cuda.csr.shares";

/// Groups of a block, and the maximum number of chunks of each.
struct SharesShape {
  int groups, chunks;

  /// Returns the maximum number of nonzeros of a block, from the chunk of its first nonzero.
  [[nodiscard]] constexpr std::int64_t places() const { return std::int64_t{kRowChunk} * groups * chunks; }
};

/// Returns the shape with the most chunks, up to `max_chunks`, that gives every multiprocessor `blocks`
/// blocks.
SharesShape shares_shape(std::int64_t entries, int groups, int max_chunks, int blocks,
                         const DeviceInfo& device);

/// Launch parameters; `..._at` are offsets in Schedule::bytes.
struct SharesHeader {
  std::int64_t chunks_at = 0;  ///< RowChunk
  std::int64_t rows_at = -1;   ///< std::int32_t ids of the rows that are not empty; -1: no row is empty
  std::int64_t rows = 0;
  std::int64_t empty_at = 0, empty = 0;    ///< std::int32_t ids of empty rows
  std::int64_t blocks_at = 0, blocks = 0;  ///< CsrPiece, first segments, then entire rows (split: -1)
  std::int64_t pieces = 0;                 ///< blocks that are segments
  std::int64_t splits_at = 0, splits = 0;  ///< CsrSplit
  ScheduleScratch scratch;
};

/// Counters per split row, and bytes of the partial sums of a segment.
struct SharesScratch {
  std::int64_t counters, sum_bytes;
};

/// Divides the rows. O(rows + nnz / 32).
Schedule shares_schedule(std::span<const std::int64_t> row_ptr, const SharesShape& shape,
                         const SharesScratch& scratch);

/// Only the parts are stored, which follow from the rows. Reading divides the rows again and compares.
inline constexpr std::uint32_t kSharesVersion = 1;
Result<Schedule> read_shares(const StoredSchedule& stored, std::span<const std::int64_t> row_ptr,
                             const SharesShape& shape, const SharesScratch& scratch);

/// For long and for very different rows: 8 lanes hold 128 bytes of a row of B, and all blocks process one
/// such slice of B at a time, of which L1 keeps the most frequent rows.
std::span<const DeviceKernel> shares_kernels();

}  // namespace sptile::runtime::cuda
