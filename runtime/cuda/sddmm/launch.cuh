// Launches of the SDDMM kernels. Each .cu that includes this makes the instances it lists.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "runtime/cuda/sddmm/entries.cuh"
#include "runtime/cuda/sddmm/tiles.cuh"
#include "runtime/cuda/device/start_kernel.cuh"
#include "runtime/cuda/device/whole_pieces.hpp"

namespace sptile::runtime::cuda {

inline constexpr int kSampleWarps = 4;  ///< of a block

/// Entries in rows alone.
template <class Entries, int kRegisters>
__global__ void __launch_bounds__(kSampleWarps* kWarp) __maxnreg__(kRegisters)
    sample_rows(const __grid_constant__ SampleTask task) {
  follow_previous_kernel();
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t warp = std::int64_t{blockIdx.x} * kSampleWarps + __shfl_sync(~0u, thread / kWarp, 0);
  if (warp < task.entries.runs) SampleEntries<Entries>(task.entries, task.dense, thread % kWarp).run(warp);
}

/// Entries in tiles, and behind them those in rows.
template <class Tiles, class Entries, int kRegisters>
__global__ void __launch_bounds__(kSampleWarps* kWarp) __maxnreg__(kRegisters)
    sample_hybrid(const __grid_constant__ SampleTask task) {
  follow_previous_kernel();
  const int thread = static_cast<int>(threadIdx.x), lane = thread % kWarp;
  const int warp = __shfl_sync(~0u, thread / kWarp, 0);
  const auto block = static_cast<std::int64_t>(blockIdx.x);
  if (block < task.tile_blocks) {
    const std::int64_t item = block * kSampleWarps + warp;
    if (item < task.tiles.item_count)
      SampleTiles<Tiles>(task.tiles, task.dense, lane).run(task.tiles.items[item]);
  } else if constexpr (Tiles::kHalves == 1) {
    const std::int64_t run = (block - task.tile_blocks) * kSampleWarps + warp;
    if (run < task.entries.runs) SampleEntries<Entries>(task.entries, task.dense, lane).run(run);
  }
}

template <auto kKernel>
int start_samples(const SampleTask& task, const Launch& launch, void* stream) noexcept {
  const std::int64_t blocks = task.tile_blocks + (task.entries.runs + kSampleWarps - 1) / kSampleWarps;
  if (blocks == 0) return cudaSuccess;
  return start_kernel<kKernel>(
      {.blocks = dim3(static_cast<unsigned>(blocks)), .threads = kSampleWarps * kWarp}, *launch.device,
      static_cast<cudaStream_t>(stream), task);
}

/// Fills in what does not depend on the layout of the format; `bind` of the layout does the rest.
inline SampleTask common_sample_task(const Launch& launch, std::int64_t element_bytes) {
  const auto& numbers = launch.host->numbers;
  SampleTask task{};
  task.dense = {static_cast<const std::byte*>(launch.x),
                static_cast<const std::byte*>(launch.y),
                static_cast<std::uint64_t>(launch.ldx * element_bytes),
                static_cast<std::uint64_t>(launch.ldy * element_bytes),
                launch.n,
                launch.row_order};
  task.tiles.items = reinterpret_cast<const SampleItem*>(launch.schedule + numbers[kSampleItemsAt]);
  task.tiles.item_count = static_cast<std::int32_t>(numbers[kSampleItemCount]);
  task.tiles.rows = static_cast<std::int32_t>(launch.format.rows);
  task.tile_blocks = (task.tiles.item_count + kSampleWarps - 1) / kSampleWarps;
  task.entries.first_row =
      reinterpret_cast<const std::int32_t*>(launch.schedule + numbers[kSampleFirstRowAt]);
  task.entries.runs = numbers[kSampleRuns];
  task.entries.rounds = static_cast<std::int32_t>(numbers[kSampleRounds]);
  return task;
}

/// Results of the part of the format whose first entry is number `first` of all.
inline SampleResults results_of(const Launch& launch, const ArrayView& values, std::int64_t first,
                                std::int64_t element_bytes) {
  return {static_cast<std::byte*>(launch.out) + first * element_bytes, launch.scaled ? values.data : nullptr,
          values.dtype, launch.alpha, launch.beta};
}

/// True when rows of X and Y can be read 16 bytes at a time.
inline bool whole_rows(const Launch& launch, std::int64_t element_bytes) {
  return whole_pieces(launch.x, launch.ldx, launch.n, element_bytes) &&
         whole_pieces(launch.y, launch.ldy, launch.n, element_bytes);
}

/// One instance: a kernel for operands of any alignment, one for few features and one for many.
template <class Layout, class Dense, auto kAny, auto kNarrow, auto kWide>
int launch_samples(const Launch& launch, void* stream) noexcept {
  constexpr std::int64_t kSize = sizeof(Dense);
  constexpr std::int64_t kNarrowFeatures = 32;
  SampleTask task = common_sample_task(launch, kSize);
  Layout::bind(launch, task, kSize);
  const auto start = !whole_rows(launch, kSize)    ? start_samples<kAny>
                     : launch.n <= kNarrowFeatures ? start_samples<kNarrow>
                                                   : start_samples<kWide>;
  return start(task, launch, stream);
}

/// Kernels of a layout with tiles. `T` has the registers that a thread of each may have.
template <class Layout, class T>
struct SampleFamily {
  using Source = typename Layout::Source;

  /// `Narrow` and `Wide` multiply tiles of few and of many features; the entries in rows have kLanes lanes
  /// for few features, and kPieces pieces of a row in each of 8 lanes for many.
  template <class Narrow, class Wide, class Math, int kNarrowSteps, int kWideSteps, int kLanes, int kPieces,
            int kNarrow, int kWide>
  static constexpr auto launch_of = launch_samples<
      Layout, typename Math::Dense,
      sample_hybrid<SampleShape<Source, Narrow, kNarrowSteps, false>, EntryShape<Math, 8, 1, false>, kNarrow>,
      sample_hybrid<SampleShape<Source, Narrow, kNarrowSteps, true>, EntryShape<Math, kLanes, 1, true>,
                    kNarrow>,
      sample_hybrid<SampleShape<Source, Wide, kWideSteps, true>, EntryShape<Math, 8, kPieces, true>, kWide>>;
  template <bool kSplit>
  static constexpr auto kF32 =
      launch_of<DotF32<kSplit>, DotF32<kSplit>, MathF32<false>, 2, 8, 8, 2, T::kF32Narrow, T::kF32Wide>;
  template <class D>
  static constexpr auto kF16 =
      launch_of<DotHalf<D, 4>, DotHalf<D, 8>, MathHalf<D, 8>, 2, 4, 4, 2, T::kF16Narrow, T::kF16Wide>;

  static constexpr DeviceKernel row(DType dense, Precision precision,
                                    int (*launch)(const Launch&, void*) noexcept) {
    return {Layout::kSddmm, DType::none, dense, precision, 80, true, Layout::kSample, launch, true};
  }
  static constexpr DeviceKernel kRows[4] = {
      row(DType::f32, Precision::tf32, kF32<false>), row(DType::f32, Precision::fp32, kF32<true>),
      row(DType::f16, Precision::fp16, kF16<Half>), row(DType::bf16, Precision::bf16, kF16<BFloat16>)};
};

template <class Family>
std::span<const DeviceKernel> sample_kernels() {
  return Family::kRows;
}

}  // namespace sptile::runtime::cuda
