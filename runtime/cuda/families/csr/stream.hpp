// csr times one column, on CUDA cores (after CSR-Stream, Greathouse and Daga, SC 2014): a block takes whole
// rows with about as many entries as any other block. Its threads read the entries side by side, whatever
// rows they are of, and leave the products in shared memory, where rows are added up.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "runtime/cuda/collective/csr_schedule.hpp"
#include "runtime/cuda/device/qualifiers.hpp"
#include "runtime/cuda/device_kernel.hpp"

namespace sptile::runtime::cuda {

inline constexpr std::string_view kCsrStream = "cuda.csr.stream";

/// Entries of which the columns, and values of 4 bytes, fill a line of the caches. A block begins to count at
/// the line of its first entry, so that no line is read by two warps.
inline constexpr int kStreamLine = 32;

/// Entries a row, in the mean of a block, from which on its warps take neighbouring parts of its entries.
inline constexpr int kStreamLong = 128;

/// Sizes of a block that decide speed, not results: threads, and entries that each reads.
struct StreamShape {
  int threads, per_thread;

  /// Places in the block's shared memory: from the line of its first entry on.
  [[nodiscard]] constexpr int places() const { return threads * per_thread; }
  /// Most rows of a block; more only where most of them are empty.
  [[nodiscard]] constexpr int rows() const { return places(); }
  /// Places of a block of long rows, of which nothing waits in shared memory: more where there are many.
  [[nodiscard]] constexpr std::int64_t long_places(std::int64_t entries) const {
    return places() * (entries < std::int64_t{1} << 24 ? 2 : 4);
  }
  /// Entries of a block that has a part of a row. A row that has more is cut.
  [[nodiscard]] constexpr int piece() const { return 2 * places() - kStreamLine; }
};
inline constexpr StreamShape kStreamShape = {.threads = 256, .per_thread = 8};

/// True when the rows of a block are long ones.
SPTILE_HOST_DEVICE bool are_long(std::int64_t rows, std::int64_t entries) {
  return rows * kStreamLong <= entries;
}

/// Consecutive whole rows, empty ones too.
struct StreamBlock {
  std::int64_t entry;  ///< first of them
  std::int32_t row;    ///< first of them
  std::uint16_t entries, rows;
  bool operator==(const StreamBlock&) const = default;
};

/// What launching reads; `..._at` are offsets in Schedule::bytes.
struct StreamHeader {
  std::int64_t ends_at = 0;  ///< std::uint16_t for each row: the place behind its last entry
  std::int64_t blocks_at = 0, blocks = 0;
  std::int64_t pieces_at = 0, pieces = 0;  ///< CsrPiece, each the work of a block
  std::int64_t splits_at = 0, splits = 0;  ///< CsrSplit, also of rows in one piece
  ScheduleScratch scratch;
};

/// Errc::unsupported for more than one column, or heads.
Status check_one_column(const ServiceRequest& request);

/// Divides rows, in O(rows). Sums of pieces take so many bytes. The device does not matter.
Schedule stream_schedule(std::span<const std::int64_t> row_ptr, std::int64_t sum_bytes,
                         const StreamShape& shape = kStreamShape);

/// What is stored: nothing beside the parts, which follow from the rows. Reading them divides the rows anew
/// and compares: that is as fast as any other proof.
inline constexpr std::uint32_t kStreamVersion = 2;
Result<Schedule> read_stream(const StoredSchedule& stored, std::span<const std::int64_t> row_ptr,
                             std::int64_t sum_bytes);

std::span<const DeviceKernel> stream_kernels();

}  // namespace sptile::runtime::cuda
