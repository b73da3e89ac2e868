// The kernel of tall windows and its launch.
#pragma once

#include "runtime/cuda/collective/block.cuh"
#include "runtime/cuda/device/start_kernel.cuh"
#include "runtime/cuda/device/whole_pieces.hpp"
#include "runtime/cuda/families/tall/consumer.cuh"
#include "runtime/cuda/families/tall/dense_tiles.cuh"
#include "runtime/cuda/families/tall/dense_writer.cuh"
#include "runtime/cuda/families/tall/producer.cuh"
#include "runtime/cuda/families/tall/tiles.cuh"
#include "runtime/cuda/families/tall/upright_tiles.cuh"

namespace sptile::runtime::cuda {

/// Warps per block that do not multiply.
template <class K>
inline constexpr int kTallHelpers = kTallProducers + (K::kDense ? kTallWriters : 0);

/// Parts of the consumers of a kernel.
template <class K, bool kDense = K::kDense, bool kSwizzled = K::kSwizzled>
struct TallConsumerOf {
  using Multiplier = TallTiles<K>;
  using Result = TallResult<K>;
};
template <class K>
struct TallConsumerOf<K, true, false> {
  using Multiplier = TallDenseTiles<K>;
  using Result = TallResult<K>;
};
template <class K>
struct TallConsumerOf<K, true, true> {
  using Multiplier = TallUprightTiles<K>;
  using Result = TallUprightResult<K>;
};

template <class K>
__device__ __forceinline__ std::uint32_t tall_shared() {
  if constexpr (K::kSwizzled)
    return swizzled_shared();
  else
    return dynamic_shared();
}

/// A block has one item and one slice of the columns of B: consumer warps, then producers, then writers of
/// dense tiles.
template <class K>
__device__ __forceinline__ void run_tall_block(const TallTask& task) {
  admit_next_kernel();
  const TallShared shared{{tall_shared<K>()}};
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  const int warp = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / kWarpSize, 0);
  const int consumers = task.row_warps * task.feature_warps;
  const TallItem item = task.items[blockIdx.x % static_cast<unsigned>(task.item_count)];
  const int slice = static_cast<int>(blockIdx.x / static_cast<unsigned>(task.item_count));

  if (threadIdx.x == 0) {
    // A producer that copies a chunk alone also arrives with the number of bytes of its bulk copies.
    shared.init(task.stages, K::kDense ? kWarpSize + 1 : kTallProducers * kWarpSize,
                static_cast<unsigned>(consumers + kTallHelpers<K> - kTallProducers));
    if constexpr (K::kDense)
      shared.dense().init(kTallDenseChunks, kTallWriters, static_cast<unsigned>(consumers));
  }
  __syncthreads();
  await_previous_kernel();
  if (warp < consumers) {
    if constexpr (K::kDense) warpgroup_take_registers<K::kConsumerRegisters>();
    TallConsumer<K, typename TallConsumerOf<K>::Multiplier, typename TallConsumerOf<K>::Result>(
        task, shared, item, tall_part<K>(task, slice, warp, lane))
        .run();
    return;
  }
  const int helper = warp - consumers;
  if constexpr (K::kDense) {
    warpgroup_leave_registers<K::kHelperRegisters>();
    if (helper >= kTallProducers) {
      TallDenseWriter<K>(task, shared, item, helper - kTallProducers, lane).run();
      return;
    }
  }
  using Producer = TallProducer<static_cast<int>(sizeof(typename K::Dense)), K::kValueBytes, K::kDense,
                                K::kDense ? K::kVariantSegments : 0>;
  Producer(task, shared, item, slice, helper, lane).run();
}

template <class K>
__global__ void __launch_bounds__(kWarpSize*(K::kWarps + kTallHelpers<K>), K::kBlocks)
    tall_product(const __grid_constant__ TallTask task) {
  if constexpr (!K::kDense || kHasWarpgroups) run_tall_block<K>(task);
}

template <class K>
int start_tall(const TallHeader& header, const Launch& launch, cudaStream_t stream) {
  const formats::TallView a = formats::as_tall(launch.format);
  const Operand &b = launch.operands.dense[kSpmmB], &c = launch.operands.dense[kSpmmC];
  constexpr std::int64_t kSize = sizeof(typename K::Dense);
  TallTask task{};
  task.chunks = launch.part<TallChunk>(header.chunks_at);
  task.items = launch.part<TallItem>(header.items_at);
  task.pieces = launch.part<TallPiece>(header.pieces_at);
  task.col_id = a.col_id.data();
  task.bitmap = a.bitmap.data();
  task.value_offset = a.value_offset.data();
  task.values = a.values.data;
  task.value_bytes = a.values.bytes();
  task.row_order = launch.row_order;
  task.item_count = static_cast<std::int32_t>(header.item_count);
  task.slices = static_cast<std::int32_t>(tall_slices(header.shape, launch.n * kSize));
  task.places = K::kDense ? launch.part<std::uint16_t>(header.places_at) : nullptr;
  task.stage = tall_stage(header.room);
  task.stages = header.stages;
  task.slice_segments = header.shape.slice_segments;
  task.row_warps = header.shape.row_warps;
  task.feature_warps = header.shape.feature_warps;
  const bool whole =
      whole_pieces(b, launch.n, kSize) && whole_values(launch.format) && b.ld * kSize >> 32 == 0;
  task.copy = whole ? TallCopy::pieces : TallCopy::elements;
  // If C has wider elements than B, a lane stores two vectors.
  task.whole_pieces = launch.n % K::kStored == 0 && whole_pieces(c, launch.n, sizeof(typename K::Result));
  task.b = static_cast<const std::byte*>(b.data);
  task.ldb_bytes = b.ld * kSize;
  task.c = c.data;
  task.ldc = c.ld;
  task.n = launch.n;
  task.scale = {static_cast<float>(launch.operands.alpha), static_cast<float>(launch.operands.beta)};
  task.wide_scale = {launch.operands.alpha, launch.operands.beta};
  task.arrived = reinterpret_cast<unsigned*>(launch.workspace + header.scratch.counters_at);
  task.partials = launch.workspace + header.scratch.partials_at;

  task.dense_bytes = header.dense_bytes;
  task.stages_at = K::kSwizzled ? kSwizzledBytes : TallShared::kBarrierBytes;
  const auto shared = static_cast<std::size_t>(task.stages_at + task.stages * task.stage.bytes +
                                               kTallDenseChunks * task.dense_bytes);
  const auto blocks = static_cast<unsigned>(task.item_count * std::int64_t{task.slices});
  const auto threads =
      static_cast<unsigned>(kWarpSize * (task.row_warps * task.feature_warps + kTallHelpers<K>));
  if (blocks == 0) return cudaSuccess;
  return start_kernel<tall_product<K>>(
      {.blocks = dim3(blocks), .threads = threads, .shared_bytes = shared, .resident = kAllShared},
      *launch.device, stream, task);
}

using TallStart = int (*)(const TallHeader&, const Launch&, cudaStream_t);

/// One row of the table: kernels for one pair of types, by ascending work per warp. A slice of a row of B has
/// kLeastSegments to kMostSegments segments of 128 bytes.
template <int kLeastSegments, int kMostSegments, class... K>
struct TallInstance : StoredInstance<TallInstance<kLeastSegments, kMostSegments, K...>, TallHeader,
                                     kTallVersion, tall_numbers> {
  using First = std::tuple_element_t<0, std::tuple<K...>>;
  static constexpr TallVariant kVariants[sizeof...(K)] = {
      {K::kSubWindows, K::kVariantSegments, K::kWarps, K::kBlocks}...};

  static constexpr TallFamily kFamily = {.element_bytes = sizeof(typename First::Dense),
                                         .sum_bytes = sizeof(typename First::Acc),
                                         .least_segments = kLeastSegments,
                                         .most_segments = kMostSegments,
                                         .variants = kVariants,
                                         .dense = First::kDense};

  static TallHeader append(Schedule& schedule, const ScheduleRequest& request) {
    return append_tall(schedule, request, kFamily);
  }
  static TallHeader read(ScheduleReader& reader, Schedule& schedule, const ScheduleRequest& request) {
    return read_tall(reader, schedule, request, kFamily);
  }
  static std::int64_t least_n(const ScheduleHeader& header, std::int64_t n) {
    constexpr std::int64_t kSize = sizeof(typename First::Dense);
    return (tall_least_row_bytes(kFamily, header.as<TallHeader>().shape, n * kSize) + kSize - 1) / kSize;
  }
  static int launch(const Launch& launch, void* stream) noexcept {
    static constexpr TallStart kStarts[] = {start_tall<K>...};
    const auto& header = launch.header->as<TallHeader>();
    return kStarts[header.shape.variant](header, launch, static_cast<cudaStream_t>(stream));
  }
  static constexpr auto policy = policy_values_for<tall_policy_for>;
};

}  // namespace sptile::runtime::cuda
