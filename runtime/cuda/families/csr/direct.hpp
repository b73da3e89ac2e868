// csr on CUDA cores for small and narrow products. More lanes process the entries of longer rows in turns, so
// that short chains of loads keep all multiprocessors busy from the start; narrow rows of B use few lanes,
// down to one.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/cuda/device_kernel.hpp"
#include "runtime/cuda/families/csr/schedule.hpp"

namespace sptile::runtime::cuda {

inline constexpr std::string_view kCsrDirect = "cuda.csr.direct";
inline constexpr int kDirectThreads = 128;  ///< threads per block

/// Assignment of a row of B: to a team of `lanes`, each with `width` adjacent columns (or one) `repeats`
/// times.
struct DirectShape {
  int lanes, width, repeats;

  [[nodiscard]] constexpr std::int64_t columns() const { return std::int64_t{lanes} * width * repeats; }
  [[nodiscard]] constexpr std::int64_t slices(std::int64_t n) const {
    return (n + columns() - 1) / columns();
  }
  bool operator==(const DirectShape&) const = default;
};
/// Returns the shape for n columns, of which `vector` can be moved at once.
DirectShape direct_shape(std::int64_t n, int vector);

/// Rows of similar length: each is processed by 2^threads_log adjacent threads.
struct DirectClass {
  std::int32_t first_block, first_row, rows, threads_log;  ///< first_row: index in the list of rows
};
inline constexpr std::size_t kDirectClasses = 6;

/// Rows of B that a team has in flight. Narrow teams with many turns may use the larger number; otherwise its
/// registers, and thus other warps, are worth more.
inline constexpr int kDirectFew = 4, kDirectMany = 8;

/// Launch parameters; `..._at` are offsets in Schedule::bytes.
struct DirectHeader {
  DirectShape shape;
  int at_once = kDirectFew;
  int class_count = 0;
  std::array<DirectClass, kDirectClasses> classes;
  std::int32_t row_blocks = 0;             ///< blocks of all classes
  std::int64_t rows_at = -1;               ///< std::int32_t ids, class by class; -1: all are of one class
  std::int64_t pieces_at = 0, pieces = 0;  ///< CsrPiece, one block each
  std::int64_t splits_at = 0, splits = 0;  ///< CsrSplit, also for rows in one piece
  ScheduleScratch scratch;
};

/// Division of rows for `slices` slices, with partial sums of `sum_bytes` bytes per element; 0: no partial
/// sums.
struct DirectRequest {
  DirectShape shape;
  std::int64_t slices = 1, sum_bytes = 0;

  /// Returns the bytes of the partial sums of one segment.
  [[nodiscard]] constexpr std::int64_t piece_sum_bytes() const {
    return slices * shape.columns() * sum_bytes;
  }
};

/// Errc::unsupported for heads, because kernels for few rows of B launch one head.
Status check_one_head(const ServiceRequest& request);

/// Divides rows. O(rows), in the order of their length classes.
Schedule direct_schedule(std::span<const std::int64_t> row_ptr, const DirectRequest& request,
                         const DeviceInfo& device);

/// Only the bytes are stored, without numbers: all parts follow from the rows, the request and the device.
/// Reading divides the rows again and compares, O(rows).
inline constexpr std::uint32_t kDirectVersion = 1;
std::vector<std::int64_t> direct_numbers(const ScheduleHeader& header);
Result<Schedule> read_direct(const StoredSchedule& stored, std::span<const std::int64_t> row_ptr,
                             const DirectRequest& request, const DeviceInfo& device);

std::span<const DeviceKernel> direct_kernels();

}  // namespace sptile::runtime::cuda
