// Kernels of SDDMM with Libra's balance: one for the tiles, one for segments of long rows, one for short
// rows. Each part has a separate launch configuration (section 4.4.1).
#pragma once

#include <cstdint>

#include "runtime/cuda/families/sddmm/launch.cuh"
#include "runtime/cuda/papers/libra_streams/sddmm_schedule.hpp"

namespace sptile::runtime::cuda {

/// Kernel parameters: those of all SDDMM kernels and a list of residual segments.
struct SegmentTask {
  SddmmTask parts;
  const SddmmSegment* segments;
  std::int64_t count;
  std::int32_t max_entries;  ///< maximum entries of a segment; 0: unknown
};

/// A warp per segment of a window.
template <class Tiles, int kRegisters>
__global__ void __launch_bounds__(kSddmmWarps* kWarpSize) __maxnreg__(kRegisters)
    sddmm_window_segments(const __grid_constant__ SddmmTask task) {
  static_assert(!Tiles::Math::kDoubtsNonfinite, "this kernel has no second run");
  follow_previous_kernel();
  const int thread = static_cast<int>(threadIdx.x);
  const auto head = static_cast<int>(blockIdx.z);
  const std::int64_t item = std::int64_t{blockIdx.x} * kSddmmWarps + __shfl_sync(~0u, thread / kWarpSize, 0);
  if (item < task.tiles.item_count)
    SddmmTiles<Tiles>(of_head(task.tiles, head), of_head(task.dense, head), thread % kWarpSize)
        .run(task.tiles.items[item]);
}

/// A warp per segment of a long row.
template <class Entries, int kRegisters>
__global__ void __launch_bounds__(kSddmmWarps* kWarpSize) __maxnreg__(kRegisters)
    sddmm_row_segments(const __grid_constant__ SegmentTask task) {
  follow_previous_kernel();
  const int thread = static_cast<int>(threadIdx.x);
  const auto head = static_cast<int>(blockIdx.z);
  const std::int64_t number =
      std::int64_t{blockIdx.x} * kSddmmWarps + __shfl_sync(~0u, thread / kWarpSize, 0);
  if (number >= task.count) return;
  const SddmmSegment segment = task.segments[number];
  SddmmEntries<Entries>(of_head(task.parts.entries, head), of_head(task.parts.dense, head),
                        thread % kWarpSize)
      .run_row(segment.entry, segment.entry + segment.entries, segment.row);
}

/// A group of lanes per short row. All its rows of Y are in flight at once with the paper's Short_len.
template <class S, int kRegisters>
__global__ void __launch_bounds__(kSddmmWarps* kWarpSize) __maxnreg__(kRegisters)
    sddmm_short_rows(const __grid_constant__ SegmentTask task) {
  using Chunk = typename S::Math::Chunk;
  using Dense = typename S::Dense;
  constexpr int kAtOnce = 2;
  follow_previous_kernel();
  const int thread = static_cast<int>(threadIdx.x), lane = thread % S::kLanes;
  const auto head = static_cast<int>(blockIdx.z);
  const std::int64_t place = std::int64_t{blockIdx.x} * (kSddmmWarps * S::kGroups) + thread / S::kLanes;
  const SddmmDense dense = of_head(task.parts.dense, head);
  const EntryPart part = of_head(task.parts.entries, head);
  // All lanes of the warp take part in the reductions, also those of groups without a row.
  const SddmmSegment segment = place < task.count ? task.segments[place] : SddmmSegment{0, 0, 0};
  const auto row_of = [&](const std::byte* rows, std::uint64_t stride, std::int32_t row) {
    return reinterpret_cast<const Dense*>(rows + std::uint64_t{static_cast<std::uint32_t>(row)} * stride);
  };
  const std::int32_t row = segment.entries > 0 ? dense.row(segment.row) : 0;
  for (std::int32_t first = 0; first < task.max_entries; first += kAtOnce) {
    typename S::Acc sum[kAtOnce] = {};
    const Dense* y[kAtOnce];
    bool present[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      present[i] = first + i < segment.entries;
      y[i] =
          row_of(dense.y, dense.y_stride, present[i] ? __ldg(part.columns + segment.entry + first + i) : 0);
    }
    for (std::int64_t feature = lane * S::Math::kElements; feature < dense.n; feature += S::kFeatures) {
      const auto left = static_cast<int>(min(dense.n - feature, std::int64_t{S::kFeatures}));
      Chunk of_x[S::kSteps], of_y[kAtOnce][S::kSteps];
      load_pass<S>(of_x, row_of(dense.x, dense.x_stride, row) + feature, present[0] ? left : 0);
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) load_pass<S>(of_y[i], y[i] + feature, present[i] ? left : 0);
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) add_pass<S>(sum[i], of_x, of_y[i]);
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const auto dot = reduce_lanes<S::kLanes>(sum[i]);
      if (present[i] && lane == i)
        write_result<typename S::Result>(part.results, segment.entry + first + i, dot);
    }
  }
}

/// The kernels for one kind of operands.
template <auto kTiles, auto kLong, auto kShort, int kLanes>
struct LibraSddmmSet {
  static constexpr int kThreads = kSddmmWarps * kWarpSize, kShortGroups = kThreads / kLanes;

  static LibraSddmmKernels kernels() {
    return {blocks_per_sm<kTiles>(kThreads),
            blocks_per_sm<kLong>(kThreads),
            blocks_per_sm<kShort>(kThreads),
            kSddmmWarps,
            kShortGroups,
            balance_on_device};
  }

  static int start_tiles(const SddmmTask& task, const Launch& launch, cudaStream_t stream) {
    return start<kTiles>(task.tile_blocks, task, launch, stream);
  }

  static int start_rows(const SddmmTask& parts, const Launch& launch, cudaStream_t stream) {
    const auto& header = launch.header->as<LibraSddmmHeader>();
    const SegmentTask long_rows{parts, launch.part<SddmmSegment>(header.long_at), header.long_count, 0};
    const SegmentTask short_rows{parts, launch.part<SddmmSegment>(header.short_at), header.short_count,
                                 static_cast<std::int32_t>(header.short_entries)};
    const int code =
        start<kLong>((long_rows.count + kSddmmWarps - 1) / kSddmmWarps, long_rows, launch, stream);
    if (code != cudaSuccess) return code;
    return start<kShort>((short_rows.count + kShortGroups - 1) / kShortGroups, short_rows, launch, stream);
  }

 private:
  template <auto kKernel, class Task>
  static int start(std::int64_t blocks, const Task& task, const Launch& launch, cudaStream_t stream) {
    if (blocks == 0) return cudaSuccess;
    return start_kernel<kKernel>({.blocks = sliced_grid(blocks, 1, launch.sizes.heads), .threads = kThreads},
                                 *launch.device, stream, task);
  }
};

}  // namespace sptile::runtime::cuda
