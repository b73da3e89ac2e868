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

/// Numbers of dW that a lane sums: its elements times some features.
inline constexpr int kWeightSums = 64;
/// Maximum number of blocks of attention_items per wave of blocks. They divide the items of a head in turns.
constexpr std::int64_t most_item_blocks(std::int64_t waves, int sm_count, std::int64_t heads) {
  const std::int64_t of_heads = (heads + 3) / 4;  // a block has at least 4 groups
  const std::int64_t of_device = waves * (sm_count > 0 ? sm_count : 1);
  return of_device > of_heads ? of_device : of_heads;
}

Schedule schedule_attention(const ScheduleRequest& request, DType dense, const AttentionSums& sums);

/// Schedule of the gradient of the weights of features: the workspace has kWeightSums numbers for each lane
/// of each slice, and no counters. `blocks`: resident blocks per multiprocessor.
Schedule schedule_gatv2_weights(const ScheduleRequest& request, DType dense, int blocks);

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
