// Division of the rows of small matrices among teams of lanes, for SpMM and SDDMM with rows in registers.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/cuda/collective/csr_schedule.hpp"
#include "runtime/cuda/device_kernel.hpp"

namespace sptile::runtime::cuda {

/// Policy of cuda.csr.direct, and of the division of rows of cuda.csr.sddmm.direct.
struct DirectPolicy {
  int threads = 128;      ///< per block
  int few_rows = 4;       ///< rows of B that a team has in flight
  int many_rows = 8;      ///< rows in flight of narrow teams with many turns
  int many_lanes = 2;     ///< maximum lanes of such teams; registers of wider ones are worth more
  int max_lanes = 16;     ///< maximum per team
  int max_single = 32;    ///< columns that lanes process one by one if vectors do not fit
  int blocks = 0;         ///< minimum per multiprocessor, which limits the registers
  int double_blocks = 0;  ///< minimum for two vectors per lane
  /// Nonzeros times lanes that a multiprocessor processes concurrently before teams take more turns. Of 64 to
  /// 1024, this value has the lowest loss relative to the best of each (53 matrices, seven widths).
  int lanes_per_sm = 970;
  int min_turns = 4;  ///< nonzeros that a team processes in sequence
  /// Maximum per lane: narrow teams read nonzeros with strides longer than a cache line.
  int max_lane_turns = 8;
  int piece_step = 8;  ///< segments of a row are multiples of it, except the last
  /// Rounds of rows without nonzeros, in per cent, from which neighbouring rows are sorted by length. Fitted
  /// on half of 23 matrices (H100, f32, N = 32 and 128).
  int sorted_idle = 16;
  int sorted_rows = 64;  ///< neighbouring rows that are sorted

  SPTILE_POLICY_MEMBERS(threads, few_rows, many_rows, many_lanes, max_lanes, max_single, blocks,
                        double_blocks, lanes_per_sm, min_turns, max_lane_turns, piece_step, sorted_idle,
                        sorted_rows)
  friend constexpr bool operator==(const DirectPolicy&, const DirectPolicy&) = default;
};

/// Returns the policy for dense operands of a type.
constexpr DirectPolicy direct_policy_for(int /*capability*/, DType dense) {
  const std::size_t size = size_of(dense);
  DirectPolicy policy;
  policy.blocks = size == 4 ? 8 : 7;
  policy.double_blocks = size == 4 ? 7 : size == 2 ? 4 : 5;
  return policy;
}

inline constexpr int kDirectThreads = DirectPolicy{}.threads;

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

/// Rows of B that a team has in flight.
inline constexpr int kDirectFew = DirectPolicy{}.few_rows, kDirectMany = DirectPolicy{}.many_rows;

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

/// Divides rows. O(rows), in the order of their length classes. Neighbouring rows of a class are sorted by
/// length if that gives the teams of a warp more equal work.
Schedule direct_schedule(std::span<const std::int64_t> row_ptr, const DirectRequest& request,
                         const DeviceInfo& device);

/// Only the bytes are stored, without numbers: all parts follow from the rows, the request and the device.
/// Reading divides the rows again and compares, O(rows).
inline constexpr std::uint32_t kDirectVersion = 2;
std::vector<std::int64_t> direct_numbers(const ScheduleHeader& header);
Result<Schedule> read_direct(const StoredSchedule& stored, std::span<const std::int64_t> row_ptr,
                             const DirectRequest& request, const DeviceInfo& device);

}  // namespace sptile::runtime::cuda
