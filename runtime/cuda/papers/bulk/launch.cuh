// The bulk kernel and its launch.
#pragma once

#include <tuple>

#include "runtime/cuda/papers/bulk/consumer.cuh"
#include "runtime/cuda/papers/bulk/decoder.cuh"
#include "runtime/cuda/papers/bulk/producer.cuh"
#include "runtime/cuda/tile/launch.cuh"

namespace sptile::runtime::cuda {

/// How a kernel is compiled.
template <class V, class MathT, int kTilesT>
struct BulkKernel {
  using Value = V;
  using Math = MathT;
  using Dense = typename Math::Dense;
  using Acc = typename Math::Acc;
  static constexpr int kTiles = kTilesT;
  static constexpr int kProducers = 8 * kTiles / kBulkProducerRows;
  static constexpr int kEntryBytes = BulkEntries<Math, V>::kTileBytes / kWarp;
  static constexpr int kMostThreads = kWarp * (kBulkSegmentsMost + kProducers + kBulkDecoders);
  static constexpr int kRegisters = 128;  ///< of a thread, at most; two blocks on a multiprocessor
};

/// A persistent block: a consumer warp for each segment, then the producers, then the decoders.
template <class K>
__global__ void __launch_bounds__(K::kMostThreads) __maxnreg__(K::kRegisters)
    bulk_product(const __grid_constant__ BulkTask task) {
  follow_previous_kernel();
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  const BulkShared shared{dynamic_shared()};
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int warp = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / kWarp, 0);
  const int consumers = task.slice_segments;
  if (threadIdx.x == 0) {
    const unsigned arrivals = task.copy == BulkCopy::rows ? 1 : kWarp;  // of each producer
    for (int stage = 0; stage < task.stages; ++stage) {
      barrier_init(shared.full(stage), arrivals * K::kProducers + kBulkDecoders);
      barrier_init(shared.empty(stage), static_cast<unsigned>(consumers));
    }
    fence_bulk();
  }
  __syncthreads();
  if (warp < consumers)
    BulkConsumer<typename K::Value, typename K::Math, K::kTiles>(task, shared, warp, lane).run();
  else if (warp < consumers + K::kProducers)
    BulkProducer<K::kTiles, static_cast<int>(sizeof(typename K::Dense))>(task, shared, warp - consumers, lane)
        .run();
  else
    BulkDecoder<typename K::Value, typename K::Math, K::kTiles>(task, shared,
                                                                warp - consumers - K::kProducers, lane)
        .run();
#endif
}

/// Starts the kernel of one instance. `tiles` has the arrays of the format.
template <class K>
int start_bulk(TileTask tiles, const Launch& launch, cudaStream_t stream) {
  const auto& numbers = launch.host->numbers;
  constexpr std::int64_t kSize = sizeof(typename K::Dense);
  const auto number = [&](int i) { return static_cast<int>(numbers[static_cast<std::size_t>(i)]); };
  BulkTask task{};
  const std::int64_t features = number(kBulkSliceSegments) * std::int64_t{kBulkSegmentBytes} / kSize;
  tiles.ldb_bytes = static_cast<std::uint64_t>(tiles.ldb * kSize);
  tiles.slices = static_cast<std::int32_t>((tiles.n + features - 1) / features);
  tiles.slices_together = std::min(tiles.slices, number(kSlicesTogether));
  tiles.padded_n = tiles.slices * features;
  task.tiles = tiles;
  task.pieces = reinterpret_cast<const BulkPiece*>(launch.schedule + numbers[kItemsAt]);
  task.slot_splits = reinterpret_cast<const std::int32_t*>(launch.schedule + numbers[kBulkSlotSplitsAt]);
  task.piece_count = number(kItemCount);
  task.blocks = number(kBulkBlocks);
  task.slice_segments = number(kBulkSliceSegments);
  task.stage = bulk_stage(task.slice_segments, K::kTiles, K::kEntryBytes);
  task.stages = number(kBulkStages);
  const bool rows = task.slice_segments * kBulkSegmentBytes >= kBulkRowLeast;
  task.copy = !whole_pieces(launch.b, launch.ldb, launch.n, kSize) ? BulkCopy::elements
              : rows                                               ? BulkCopy::rows
                                                                   : BulkCopy::pieces;
  task.whole_pieces = whole_pieces(launch.c, launch.ldc, launch.n, kSize);
  const auto shared = static_cast<std::size_t>(kBulkBarrierBytes + task.stages * task.stage.bytes);
  const auto blocks = static_cast<unsigned>(task.blocks * tiles.slices_together);
  const auto threads = static_cast<unsigned>(kWarp * (task.slice_segments + K::kProducers + kBulkDecoders));
  if (blocks == 0) return cudaSuccess;
  return start_kernel<bulk_product<K>>({.blocks = dim3(blocks),
                                        .threads = threads,
                                        .shared_bytes = shared,
                                        .carveout = cudaSharedmemCarveoutMaxShared},
                                       *launch.device, stream, task);
}

}  // namespace sptile::runtime::cuda
