// Division of rows for attention and softmax of rows.
#pragma once

#include "runtime/cuda/collective/csr_schedule.hpp"
#include "runtime/cuda/device_kernel.hpp"
#include "runtime/cuda/families/attention/policy.hpp"

namespace sptile::runtime::cuda {

/// Runs of rows and pieces of long ones, as for SpMM. A piece stores sums for each head and slice.
struct AttentionHeader {
  CsrHeader rows;
  ScheduleScratch scratch;
  std::int64_t m = 0;  ///< columns of V; 0: those of X
};

/// Numbers that a lane stores for a piece, with `vector` elements of each summed row.
struct AttentionSums {
  int rows, numbers;
};
inline constexpr AttentionSums kForwardSums = {1, 2}, kRowsSums = {1, 1}, kColumnsSums = {2, 1};
inline constexpr AttentionSums kGatv2RowsSums = {2, 0}, kGatv2ColumnsSums = {1, 0};
inline constexpr AttentionSums kEdgeForwardSums = {2, 2}, kEdgeBackwardSums = {2, 0};

inline constexpr int kNarrowLanes = AttentionPolicy{}.narrow_lanes;

Schedule schedule_attention(const ScheduleRequest& request, DType dense, const AttentionSums& sums);

/// Returns the minimum n with the same schedule.
std::int64_t attention_least_n(const ScheduleHeader& header, std::int64_t n, DType dense);

/// Softmax: several lanes process a row, or a block a long row.
struct SoftmaxHeader {
  int lanes = 0;  ///< 8 or 32
  std::int64_t long_at = 0, long_rows = 0;
};

inline constexpr int kSoftmaxHeld = SoftmaxPolicy{}.held, kSoftmaxThreads = SoftmaxPolicy{}.threads;
inline constexpr std::int64_t kSoftmaxOfLane = SoftmaxPolicy{}.max_lane_entries;

Schedule schedule_softmax(const ScheduleRequest& request);

}  // namespace sptile::runtime::cuda
