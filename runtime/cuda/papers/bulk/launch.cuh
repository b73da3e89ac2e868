// The bulk kernel and its launch.
#pragma once

#include "runtime/cuda/collective/block.cuh"
#include "runtime/cuda/families/tile/launch.cuh"
#include "runtime/cuda/papers/bulk/consumer.cuh"
#include "runtime/cuda/papers/bulk/decoder.cuh"
#include "runtime/cuda/papers/bulk/entries.cuh"
#include "runtime/cuda/papers/bulk/producer.cuh"
#include "runtime/cuda/papers/bulk/words.cuh"

namespace sptile::runtime::cuda {

/// Cooperation of the warps of a block.
enum class BulkSync {
  stages,  ///< producers wait until consumers have released a stage, consumers until it is full
  none,    ///< producers and consumers do not wait for each other: the results are undefined
  block    ///< all warps load and multiply, between barriers of the block
};

/// Parameters of a kernel.
template <class V, class MathT, class EntriesT = BulkEntries<MathT, V>, BulkSync kSync = BulkSync::stages>
struct BulkKernel {
  using Value = V;
  using Math = MathT;
  using Entries = EntriesT;
  using Dense = typename Math::Dense;
  static constexpr bool kRoles = kSync != BulkSync::block;
  static constexpr bool kOrdered = kSync != BulkSync::none;
  static_assert(kSync == BulkSync::stages || !Entries::kDecoders);
  using Filled = std::conditional_t<kOrdered, BulkFilledStages, BulkUnorderedStages>;
  using Stages = std::conditional_t<kRoles, Filled, BulkOwnStage<sizeof(Dense)>>;
  using Consumer = BulkConsumer<Math, Entries, Stages>;
  using Copies = std::conditional_t<kOrdered, BulkOrderedCopies, BulkUnorderedCopies>;
  using Producer = BulkProducer<sizeof(Dense), !Entries::kDecoders, Copies>;
  static constexpr int kMostThreads = kWarpSize * bulk_warps_most();
  static constexpr int kRegisters = kBulkRegisters;
};

/// Zeroes the words of A of all stages, which consumers may read before they are copied. All threads of the
/// block call it before the block synchronizes.
__device__ __forceinline__ void clear_words(const BulkTask& task, const BulkShared& shared) {
  constexpr int kWordBytes = 16;  // bytes per tile
  for (int i = static_cast<int>(threadIdx.x); i < task.stages * task.stage_tiles;
       i += static_cast<int>(blockDim.x)) {
    const int at = task.stage.entries_at + i % task.stage_tiles * kWordBytes;
    store_piece_16(shared.stage(task, i / task.stage_tiles) + static_cast<std::uint32_t>(at), {0, 0, 0, 0});
  }
  fence_async();
}

/// A persistent block: a consumer warp per segment, then the producers, then the decoders, if any. Without
/// roles, consumers only.
template <class K>
__global__ void __launch_bounds__(K::kMostThreads) __maxnreg__(K::kRegisters)
    bulk_product(const __grid_constant__ BulkTask task) {
  follow_previous_kernel();
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  const BulkShared shared{{dynamic_shared()}};
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  const int warp = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / kWarpSize, 0);
  if constexpr (!K::kRoles) {
    typename K::Consumer(task, shared, warp, lane).run();
    return;
  }
  const int consumers = task.slice_segments;
  if (threadIdx.x == 0) {
    const int arrivals = task.copy == BulkCopy::rows ? 1 : kWarpSize;  // per producer
    const auto producers = static_cast<unsigned>(arrivals * task.producers + task.decoders);
    if constexpr (K::kOrdered)
      shared.init(task.stages, producers, static_cast<unsigned>(consumers));
    else
      BulkUnorderedCopies::init(shared, producers);
    fence_async();
  }
  if constexpr (!K::kOrdered) clear_words(task, shared);
  __syncthreads();
  if (warp < consumers)
    typename K::Consumer(task, shared, warp, lane).run();
  else if (warp < consumers + task.producers)
    typename K::Producer(task, shared, warp - consumers, lane).run();
  else if constexpr (K::Entries::kDecoders)
    BulkDecoder<typename K::Value, typename K::Math>(task, shared, warp - consumers - task.producers, lane)
        .run();
#endif
}

/// Starts the kernel of one instance.
template <class K>
int start_bulk(const BulkHeader& header, const Launch& launch, cudaStream_t stream) {
  constexpr std::int64_t kSize = sizeof(typename K::Dense);
  const Operand &b = launch.operands.dense[kSpmmB], &c = launch.operands.dense[kSpmmC];
  const std::int64_t features = header.slice_segments * std::int64_t{kBulkSegmentBytes} / kSize;
  const BulkShape& shape = bulk_shape(header.slice_segments);
  BulkTask task{};
  task.tiles = tile_task(TileHeader{}, launch);
  task.tiles.ldb_bytes = static_cast<std::uint64_t>(b.ld * kSize);
  task.tiles.slices = static_cast<std::int32_t>((launch.n + features - 1) / features);
  task.tiles.slices_together = std::min(task.tiles.slices, header.slices_together);
  task.shares = launch.part<BulkShare>(header.shares_at);
  task.slice_segments = header.slice_segments;
  task.stage = bulk_stage(task.slice_segments, shape.tiles, K::Entries::kTileBytes);
  task.stages = header.stages;
  task.stage_tiles = shape.tiles;
  task.producers = K::kRoles ? shape.producers : 0;
  task.decoders = K::Entries::kDecoders ? shape.decoders() : 0;
  const bool rows = task.slice_segments * kBulkSegmentBytes >= kBulkRowLeast;
  task.copy = !whole_pieces(b, launch.n, kSize) ? BulkCopy::elements
              : rows                            ? BulkCopy::rows
                                                : BulkCopy::pieces;
  task.whole_pieces = whole_pieces(c, launch.n, kSize);
  const auto shared = static_cast<std::size_t>(kBulkBarrierBytes + task.stages * task.stage.bytes);
  const auto blocks = static_cast<unsigned>(header.blocks * task.tiles.slices_together);
  const auto threads =
      static_cast<unsigned>(kWarpSize * (task.slice_segments + task.producers + task.decoders));
  if (blocks == 0) return cudaSuccess;
  return start_kernel<bulk_product<K>>(
      {.blocks = dim3(blocks), .threads = threads, .shared_bytes = shared, .resident = kAllShared},
      *launch.device, stream, task);
}

}  // namespace sptile::runtime::cuda
