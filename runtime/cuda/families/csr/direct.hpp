// csr on CUDA cores for small and narrow products. The longer a row, the more lanes take its entries in
// turns, so that short chains of loads keep all multiprocessors busy from the first moment on; narrow rows of
// B take few lanes, down to one.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/cuda/collective/csr_schedule.hpp"
#include "runtime/cuda/device_kernel.hpp"

namespace sptile::runtime::cuda {

inline constexpr std::string_view kCsrDirect = "cuda.csr.direct";
inline constexpr int kDirectThreads = 128;  ///< of a block

/// Who holds a row of B: a team of `lanes`, each with `width` neighbours (or one column) `repeats` times.
struct DirectShape {
  int lanes, width, repeats;

  [[nodiscard]] constexpr std::int64_t columns() const { return std::int64_t{lanes} * width * repeats; }
  [[nodiscard]] constexpr std::int64_t slices(std::int64_t n) const {
    return (n + columns() - 1) / columns();
  }
  bool operator==(const DirectShape&) const = default;
};
/// The shape for n columns, of which `vector` can be moved at once.
DirectShape direct_shape(std::int64_t n, int vector);

/// Rows of about one length: each is the work of 2^threads_log neighbouring threads.
struct DirectClass {
  std::int32_t first_block, first_row, rows, threads_log;  ///< first_row: in the list of rows
};
inline constexpr std::size_t kDirectClasses = 6;

/// Rows of B that a team has on the way at once. Narrow teams with long turns may take the larger number:
/// elsewhere its registers, and with them other warps, are worth more.
inline constexpr int kDirectFew = 4, kDirectMany = 8;

/// What launching reads; `..._at` are offsets in Schedule::bytes.
struct DirectHeader {
  DirectShape shape;
  int at_once = kDirectFew;
  int class_count = 0;
  std::array<DirectClass, kDirectClasses> classes;
  std::int32_t row_blocks = 0;             ///< of all classes
  std::int64_t rows_at = -1;               ///< std::int32_t ids, class by class; -1: all are of one class
  std::int64_t pieces_at = 0, pieces = 0;  ///< CsrPiece, each the work of a block
  std::int64_t splits_at = 0, splits = 0;  ///< CsrSplit, also of rows in one piece
  ScheduleScratch scratch;
};

/// What else divides rows: for so many slices, with sums of pieces of so many bytes an element; 0: none are
/// added up.
struct DirectRequest {
  DirectShape shape;
  std::int64_t slices = 1, sum_bytes = 0;

  /// Bytes of the partial sums of one segment.
  [[nodiscard]] constexpr std::int64_t piece_sum_bytes() const {
    return slices * shape.columns() * sum_bytes;
  }
};

/// Errc::unsupported for heads: kernels of few rows of B launch for one.
Status check_one_head(const ServiceRequest& request);

/// Divides rows. O(rows), in the order of their lengths' classes.
Schedule direct_schedule(std::span<const std::int64_t> row_ptr, const DirectRequest& request,
                         const DeviceInfo& device);

/// Only the bytes are stored, not numbers: all parts follow from the rows, the request and the device.
/// Reading divides the rows again and compares, O(rows).
inline constexpr std::uint32_t kDirectVersion = 1;
std::vector<std::int64_t> direct_numbers(const ScheduleHeader& header);
Result<Schedule> read_direct(const StoredSchedule& stored, std::span<const std::int64_t> row_ptr,
                             const DirectRequest& request, const DeviceInfo& device);

std::span<const DeviceKernel> direct_kernels();

}  // namespace sptile::runtime::cuda
