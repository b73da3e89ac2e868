// Short rows of the residual part (Libra, section 4.3): a group of lanes multiplies one row. All its rows of
// B are in flight at once, and nothing is staged in shared memory.
#pragma once

#include <cstdint>

#include "runtime/cuda/collective/csr_launch.cuh"
#include "runtime/cuda/papers/libra_streams/adding.cuh"
#include "runtime/cuda/papers/libra_streams/schedule.hpp"

namespace sptile::runtime::cuda {

inline constexpr int kShortThreads = 128;

/// Parameters of the kernel; `Arguments` are the CsrArguments of the long rows.
template <class Arguments>
struct ShortSegmentTask {
  Arguments rows;
  const ShortSegment* segments;
  std::int64_t count;
};

template <class Arguments, int kLanes, bool kAligned>
__global__ void __launch_bounds__(kShortThreads)
    multiply_short_segments(const __grid_constant__ ShortSegmentTask<Arguments> task) {
  using Columns = LaneColumns<typename Arguments::Dense, kLanes, kAligned>;
  using Acc = typename Arguments::Acc;
  constexpr int kAtOnce = 2;  // nonzeros of a row in flight: all of them with the paper's Short_len
  follow_previous_kernel();
  const Arguments& a = task.rows;
  const auto thread = static_cast<int>(threadIdx.x);
  const std::int64_t place = std::int64_t{blockIdx.x} * (kShortThreads / kLanes) + thread / kLanes;
  const int slice = slice_of_block(a.slices);
  if (place >= task.count || slice >= a.slices) return;
  const ShortSegment segment = task.segments[place];
  const Columns columns(thread % kLanes, slice, a.n);
  const auto* const b = a.b + columns.first;
  Acc sum[Columns::kVector] = {};
  for (int j = 0; j < segment.entries; j += kAtOnce) {
    typename Columns::Raw row[kAtOnce] = {};
    Acc value[kAtOnce] = {};
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      if (j + i >= segment.entries) continue;
      const std::int64_t entry = segment.entry + j + i;
      row[i] = columns.load(b + std::int64_t{load_once(a.columns + entry)} * a.ldb);
      value[i] = a.values != nullptr ? widen(load_once(a.values + entry)) : Acc(1);
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i)
      if (j + i < segment.entries)
#pragma unroll
        for (int e = 0; e < Columns::kVector; ++e) sum[e] += value[i] * widen(row[i].x[e]);
  }
  const bool adds = segment.row < 0;
  std::int32_t to = adds ? ~segment.row : segment.row;
  if (a.row_order != nullptr) to = a.row_order[to];
  write_segment(columns, a.c + columns.first + to * a.ldc, sum, a.alpha, adds ? Acc(1) : a.beta,
                segment.atomic != 0);
}

/// Resident blocks per multiprocessor of the kernel for aligned operands.
template <class Arguments>
int short_blocks_per_sm(int lanes) {
  if (lanes == 8) return blocks_per_sm<multiply_short_segments<Arguments, 8, true>>(kShortThreads);
  if (lanes == 16) return blocks_per_sm<multiply_short_segments<Arguments, 16, true>>(kShortThreads);
  return blocks_per_sm<multiply_short_segments<Arguments, 32, true>>(kShortThreads);
}

/// Enqueues the kernel; does nothing without rows. Returns a cudaError_t.
template <int kLanes, class Arguments>
int launch_short_segments(const ShortSegmentTask<Arguments>& task, const Launch& launch,
                          cudaStream_t stream) {
  if (task.count == 0) return cudaSuccess;
  constexpr std::int64_t kGroups = kShortThreads / kLanes;
  const dim3 grid = sliced_grid((task.count + kGroups - 1) / kGroups, task.rows.slices, 1);
  const auto start = [&]<bool kAligned>() {
    return start_kernel<multiply_short_segments<Arguments, kLanes, kAligned>>(
        {.blocks = grid, .threads = kShortThreads}, *launch.device, stream, task);
  };
  return is_aligned<typename Arguments::Dense, typename Arguments::Result>(launch)
             ? start.template operator()<true>()
             : start.template operator()<false>();
}

template <class Arguments>
int launch_short_segments(const ShortSegmentTask<Arguments>& task, const Launch& launch,
                          cudaStream_t stream) {
  const int lanes = geometry_of<typename Arguments::Dense>(launch).lanes;
  if (lanes == 8) return launch_short_segments<8>(task, launch, stream);
  if (lanes == 16) return launch_short_segments<16>(task, launch, stream);
  return launch_short_segments<32>(task, launch, stream);
}

}  // namespace sptile::runtime::cuda
