// How rows are shared out for attention and for softmax of rows.
#pragma once

#include "runtime/cuda/collective/csr_schedule.hpp"
#include "runtime/cuda/device_kernel.hpp"

namespace sptile::runtime::cuda {

/// Runs of rows and pieces of long ones, as for SpMM. A piece leaves sums behind for each head and slice.
struct AttentionHeader {
  CsrHeader rows;
  ScheduleScratch scratch;
  std::int64_t m = 0;  ///< columns of V; 0: as many as of X
};

/// Numbers that a lane keeps for a piece, with `vector` elements of each kind of row that is summed.
struct AttentionSums {
  int rows, numbers;
};
inline constexpr AttentionSums kForwardSums = {1, 2}, kRowsSums = {1, 1}, kColumnsSums = {2, 1};

/// Lanes of a group that serves rows which are not made of whole pieces: as few as there are, as the slices
/// that they take then fit where those of wider groups would leave their sums.
inline constexpr int kNarrowLanes = 8;

Schedule schedule_attention(const ScheduleRequest& request, DType dense, const AttentionSums& sums);

/// Least n whose schedule is the same.
std::int64_t attention_least_n(const ScheduleHeader& header, std::int64_t n, DType dense);

/// Softmax: a few lanes have a row, or, of long ones, a block.
struct SoftmaxHeader {
  int lanes = 0;  ///< 8 or 32
  std::int64_t long_at = 0, long_rows = 0;
};

inline constexpr int kSoftmaxHeld = 8;       ///< entries of a row that a lane keeps in registers
inline constexpr int kSoftmaxThreads = 256;  ///< of a block

/// Entries of a row for each of its lanes, at most: longer ones have a block.
inline constexpr std::int64_t kSoftmaxOfLane = 8 * kSoftmaxHeld;

Schedule schedule_softmax(const ScheduleRequest& request);

}  // namespace sptile::runtime::cuda
