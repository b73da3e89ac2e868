// csr times one column on CUDA cores (after CSR-Stream, Greathouse and Daga, SC 2014): blocks have complete
// rows with about the same number of entries. Threads read consecutive entries, independent of rows, and
// store the products in shared memory, where rows are added.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "runtime/cuda/collective/csr_schedule.hpp"
#include "runtime/cuda/device/qualifiers.hpp"
#include "runtime/cuda/device_kernel.hpp"
#include "runtime/cuda/families/csr/policy.hpp"

namespace sptile::runtime::cuda {

inline constexpr std::string_view kCsrStream = "cuda.csr.stream";

/// Entries whose columns, or 4-byte values, fill a cache line. Positions of a block start at the line of its
/// first entry, so that no line is read by two warps.
inline constexpr int kStreamLine = 32;

/// Parameters of a block that determine speed, not results: threads, and entries per thread.
struct StreamShape {
  int threads, per_thread;

  /// Returns the positions in the block's shared memory, from the line of its first entry.
  [[nodiscard]] constexpr int places() const { return threads * per_thread; }
  /// Returns the maximum rows of a block; more only if most of them are empty.
  [[nodiscard]] constexpr int rows() const { return places(); }
  /// Returns the positions of a block of long rows, which does not stage products in shared memory: more if
  /// there are many entries.
  [[nodiscard]] constexpr std::int64_t long_places(std::int64_t entries) const {
    return places() * (entries < std::int64_t{1} << 24 ? 2 : 4);
  }
  /// Returns the maximum entries of a block with part of a row; longer rows are split.
  [[nodiscard]] constexpr int piece() const { return 2 * places() - kStreamLine; }
};
inline constexpr StreamShape kStreamShape = {StreamPolicy{}.threads, StreamPolicy{}.per_thread};

/// Returns whether the rows of a block are long.
SPTILE_HOST_DEVICE bool are_long(std::int64_t rows, std::int64_t entries) {
  return rows * StreamPolicy{}.long_row <= entries;
}

/// Consecutive complete rows, including empty ones.
struct StreamBlock {
  std::int64_t entry;  ///< first row
  std::int32_t row;    ///< first row
  std::uint16_t entries, rows;
  bool operator==(const StreamBlock&) const = default;
};

/// Launch parameters; `..._at` are offsets in Schedule::bytes.
struct StreamHeader {
  std::int64_t ends_at = 0;  ///< std::uint16_t per row: the position after its last entry
  std::int64_t blocks_at = 0, blocks = 0;
  std::int64_t pieces_at = 0, pieces = 0;  ///< CsrPiece, one block each
  std::int64_t splits_at = 0, splits = 0;  ///< CsrSplit, also for rows in one piece
  ScheduleScratch scratch;
};

/// Errc::unsupported for more than one column, or heads.
Status check_one_column(const ServiceRequest& request);

/// Divides rows. O(rows). Sums of pieces have `sum_bytes` bytes. Independent of the device.
Schedule stream_schedule(std::span<const std::int64_t> row_ptr, std::int64_t sum_bytes,
                         const StreamShape& shape = kStreamShape);

/// Only the parts are stored, which follow from the rows. Reading divides the rows again and compares, which
/// is as fast as any other validation.
inline constexpr std::uint32_t kStreamVersion = 2;
Result<Schedule> read_stream(const StoredSchedule& stored, std::span<const std::int64_t> row_ptr,
                             std::int64_t sum_bytes);

std::span<const DeviceKernel> stream_kernels();

}  // namespace sptile::runtime::cuda
