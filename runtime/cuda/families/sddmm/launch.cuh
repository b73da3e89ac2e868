// Launches of the SDDMM kernels. Each .cu that includes this header instantiates its kernels.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "formats/layout/blocks.hpp"
#include "formats/layout/me_tcf.hpp"
#include "runtime/cuda/device/slices.cuh"
#include "runtime/cuda/device/start_kernel.cuh"
#include "runtime/cuda/device/whole_pieces.hpp"
#include "runtime/cuda/families/sddmm/entries.cuh"
#include "runtime/cuda/families/sddmm/policy.hpp"
#include "runtime/cuda/families/sddmm/tiles.cuh"

namespace sptile::runtime::cuda {

inline constexpr int kSddmmWarps = SddmmPolicy{}.warps_per_block;

/// Nonzeros in rows.
template <class Entries, int kRegisters>
__global__ void __launch_bounds__(kSddmmWarps* kWarpSize) __maxnreg__(kRegisters)
    sddmm_rows(const __grid_constant__ SddmmTask task) {
  follow_previous_kernel();
  const int thread = static_cast<int>(threadIdx.x);
  const auto head = static_cast<int>(blockIdx.z);
  const std::int64_t warp = std::int64_t{blockIdx.x} * kSddmmWarps + __shfl_sync(~0u, thread / kWarpSize, 0);
  if (warp < task.entries.runs)
    SddmmEntries<Entries>(of_head(task.entries, head), of_head(task.dense, head), thread % kWarpSize)
        .run(warp);
}

/// Not inlined: called rarely, and the kernel has no spare registers.
template <class Tiles>
__device__ __noinline__ void run_tiles_again(const SddmmTask& task, int head, std::int64_t item, int lane) {
  if constexpr (Tiles::Math::kDoubtsNonfinite)
    SddmmTiles<Tiles>(of_head(task.tiles, head), of_head(task.dense, head), lane)
        .run_again(task.tiles.items[item]);
}

/// Nonzeros in tiles, then nonzeros in rows.
template <class Tiles, class Entries, int kRegisters>
__global__ void __launch_bounds__(kSddmmWarps* kWarpSize) __maxnreg__(kRegisters)
    sddmm_hybrid(const __grid_constant__ SddmmTask task) {
  follow_previous_kernel();
  const int thread = static_cast<int>(threadIdx.x), lane = thread % kWarpSize;
  const int warp = __shfl_sync(~0u, thread / kWarpSize, 0);
  const auto head = static_cast<int>(blockIdx.z);
  const SddmmDense dense = of_head(task.dense, head);
  const auto block = static_cast<std::int64_t>(blockIdx.x);
  if (block < task.tile_blocks) {
    const std::int64_t item = block * kSddmmWarps + warp;
    if (item < task.tiles.item_count &&
        SddmmTiles<Tiles>(of_head(task.tiles, head), dense, lane).run(task.tiles.items[item]))
      run_tiles_again<Tiles>(task, head, item, lane);
  } else if constexpr (Tiles::kHalves == 1) {
    const std::int64_t run = (block - task.tile_blocks) * kSddmmWarps + warp;
    if (run < task.entries.runs) SddmmEntries<Entries>(of_head(task.entries, head), dense, lane).run(run);
  }
}

template <auto kKernel>
int start_sddmm(const SddmmTask& task, const Launch& launch, void* stream) noexcept {
  const std::int64_t blocks = task.tile_blocks + (task.entries.runs + kSddmmWarps - 1) / kSddmmWarps;
  if (blocks == 0) return cudaSuccess;
  return start_kernel<kKernel>(
      {.blocks = sliced_grid(blocks, 1, launch.sizes.heads), .threads = kSddmmWarps * kWarpSize},
      *launch.device, static_cast<cudaStream_t>(stream), task);
}

/// Returns the results of a part of the format: array `part` of its values, nonzeros from `first` on.
inline SddmmResults results_of(const Launch& launch, int part, std::int64_t first,
                               std::int64_t result_bytes) {
  const Operands& o = launch.operands;
  const ArrayView values = launch.format.values(part);
  return {static_cast<std::byte*>(o.dense[kSddmmOut].data) + first * result_bytes,
          o.scaled ? values.data : nullptr,
          values.dtype,
          o.alpha,
          o.beta,
          o.dense[kSddmmOut].batch * result_bytes,
          o.values_batch * static_cast<std::int64_t>(size_of(values.dtype))};
}

/// Returns the task of a launch, for every format and kernel.
inline SddmmTask sddmm_task(const SddmmHeader& header, const Launch& launch, std::int64_t element_bytes,
                            std::int64_t result_bytes) {
  const formats::Blocks blocks = formats::blocks_of(launch.format);
  const Operand &x = launch.operands.dense[kSddmmX], &y = launch.operands.dense[kSddmmY];
  const ArrayView values = launch.format.values();
  const bool has_tiles = !blocks.tile_offset.empty();
  const auto in_rows = std::ssize(blocks.rows.columns);
  SddmmTask task{};
  task.dense = {static_cast<const std::byte*>(x.data),
                static_cast<const std::byte*>(y.data),
                static_cast<std::uint64_t>(x.ld * element_bytes),
                static_cast<std::uint64_t>(y.ld * element_bytes),
                x.batch * element_bytes,
                y.batch * element_bytes,
                launch.n,
                launch.row_order};
  task.tiles.arrays = {blocks.columns.data(),
                       header.masks_at < 0 ? blocks.masks : launch.part<std::byte>(header.masks_at),
                       values.data, values.bytes()};
  task.tiles.items = launch.part<SddmmItem>(header.items_at);
  task.tiles.item_count = static_cast<std::int32_t>(header.item_count);
  task.tiles.rows = static_cast<std::int32_t>(launch.format.rows);
  task.tiles.results = results_of(launch, 0, 0, result_bytes);
  if (launch.format.layout == &formats::kMeTcfLayout) {
    task.tiles.tile_value = blocks.tile_value.data();
    task.tiles.local_ids = formats::as_me_tcf(launch.format).tc_local_id.data();
  }
  task.tile_blocks = (task.tiles.item_count + kSddmmWarps - 1) / kSddmmWarps;
  EntryPart& part = task.entries;
  part.row_offset =
      header.row_offset_at < 0 ? blocks.rows.offset.data() : launch.part<std::int64_t>(header.row_offset_at);
  part.row_id = blocks.rows.ids.data();
  part.columns = blocks.rows.columns.data();
  part.first_row = launch.part<std::int32_t>(header.first_row_at);
  part.entries = in_rows;
  part.rows = static_cast<std::int32_t>(blocks.rows.size());
  part.rounds = static_cast<std::int32_t>(header.rounds);
  part.runs = header.runs;
  part.results = results_of(launch, has_tiles ? 1 : 0, launch.format.nnz - in_rows, result_bytes);
  return task;
}

/// Returns whether rows of X and Y can be loaded in vectors of 16 bytes.
inline bool whole_rows(const Launch& launch, std::int64_t element_bytes) {
  return whole_pieces(launch.operands.dense[kSddmmX], launch.n, element_bytes) &&
         whole_pieces(launch.operands.dense[kSddmmY], launch.n, element_bytes);
}

/// One instance: kernels for operands of any alignment, for few features and for many.
template <class Math, auto kAny, auto kNarrow, auto kWide>
int launch_sddmm(const Launch& launch, void* stream) noexcept {
  constexpr std::int64_t kSize = sizeof(typename Math::Dense);
  const SddmmTask task =
      sddmm_task(launch.header->as<SddmmHeader>(), launch, kSize, sizeof(typename Math::Result));
  const auto start = !whole_rows(launch, kSize)                  ? start_sddmm<kAny>
                     : launch.n <= SddmmPolicy{}.narrow_features ? start_sddmm<kNarrow>
                                                                 : start_sddmm<kWide>;
  return start(task, launch, stream);
}

template <DType kDense, int kTileRows>
constexpr DeviceKernel sddmm_instance(std::string_view kernel, Precision precision,
                                      int (*launch)(const Launch&, void*) noexcept,
                                      DType result = DType::none) {
  return {.kernel = kernel,
          .values = DType::none,
          .dense = kDense,
          .precision = precision,
          .capability = 80,
          .ieee = true,
          .schedule = schedule_sddmm,
          .launch = launch,
          .any_values = true,
          .result = result,
          .store = &kSddmmStore,
          .batched = true,
          .policy = policy_values_for<sddmm_policy_for, kDense, kTileRows>};
}

/// Policy of the kernels for tiles of a number of rows; kernels are compiled once for all devices.
template <class Math, int kTileRows>
inline constexpr SddmmPolicy kSddmmPolicy = sddmm_policy_for(80, kDTypeOf<typename Math::Dense>, kTileRows);

/// Kernels of formats with tiles.
template <class Source>
struct SddmmFamily {
  static constexpr int kTileRows = 8 * Source::kHalves;
  template <class Math>
  static constexpr SddmmPolicy kPolicy = kSddmmPolicy<Math, kTileRows>;

  /// `Narrow` and `Wide` multiply tiles of few and of many features. A nonzero in a row has
  /// narrow_lanes lanes for few features, and 8 lanes with two vectors each for many.
  template <class Narrow, class Wide, class Math, int kNarrowSteps, int kWideSteps>
  static constexpr auto launch_of = launch_sddmm<
      Math,
      sddmm_hybrid<SddmmShape<Source, Narrow, kNarrowSteps, false>, EntryShape<Math, 8, 1, false>,
                   kPolicy<Math>.narrow_registers>,
      sddmm_hybrid<SddmmShape<Source, Narrow, kNarrowSteps, true>,
                   EntryShape<Math, kPolicy<Math>.narrow_lanes, 1, true>, kPolicy<Math>.narrow_registers>,
      sddmm_hybrid<SddmmShape<Source, Wide, kWideSteps, true>, EntryShape<Math, 8, 2, true>,
                   kPolicy<Math>.wide_registers>>;
  template <bool kSplit>
  static constexpr auto kF32 = launch_of<DotF32<kSplit>, DotF32<kSplit>, MathF32<false>, 2, 8>;
  template <class D>
  static constexpr auto kF16 = launch_of<DotHalf<D, 4>, DotHalf<D, 8>, MathHalf<D, 8>, 2, 4>;
  /// Results in f32: the fewest kernels that support all operands.
  template <class D, class Math = MathHalf<D, 8, float>,
            auto kWhole = sddmm_hybrid<SddmmShape<Source, DotHalf<D, 8, float>, 4, true>,
                                       EntryShape<Math, 8, 2, true>, kPolicy<Math>.wide_registers>>
  static constexpr auto kF16ToF32 =
      launch_sddmm<Math,
                   sddmm_hybrid<SddmmShape<Source, DotHalf<D, 4, float>, 2, false>,
                                EntryShape<Math, 8, 1, false>, kPolicy<Math>.narrow_registers>,
                   kWhole, kWhole>;
};

/// Returns all instances of a kernel of a family.
template <const std::string_view& kKernel, class Family>
std::span<const DeviceKernel> sddmm_instances() {
  static constexpr DeviceKernel kRows[] = {
      sddmm_instance<DType::f32, Family::kTileRows>(kKernel, Precision::tf32, Family::template kF32<false>),
      sddmm_instance<DType::f32, Family::kTileRows>(kKernel, Precision::fp32, Family::template kF32<true>),
      sddmm_instance<DType::f16, Family::kTileRows>(kKernel, Precision::fp16, Family::template kF16<Half>),
      sddmm_instance<DType::bf16, Family::kTileRows>(kKernel, Precision::bf16,
                                                     Family::template kF16<BFloat16>),
      sddmm_instance<DType::f16, Family::kTileRows>(kKernel, Precision::fp16,
                                                    Family::template kF16ToF32<Half>, DType::f32),
      sddmm_instance<DType::bf16, Family::kTileRows>(kKernel, Precision::bf16,
                                                     Family::template kF16ToF32<BFloat16>, DType::f32)};
  return kRows;
}

}  // namespace sptile::runtime::cuda
