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

/// Parameters of a kernel. kRolesT: warps are producers, decoders or consumers; otherwise all warps load and
/// multiply.
template <class V, class MathT, class EntriesT = BulkEntries<MathT, V>, bool kRolesT = true>
struct BulkKernel {
  using Value = V;
  using Math = MathT;
  using Entries = EntriesT;
  using Dense = typename Math::Dense;
  static constexpr bool kRoles = kRolesT;
  static_assert(kRoles || !Entries::kDecoders);
  using Stages = std::conditional_t<kRoles, BulkFilledStages, BulkOwnStage<sizeof(Dense)>>;
  using Consumer = BulkConsumer<Math, Entries, Stages>;
  static constexpr int kMostThreads = kWarpSize * bulk_warps_most();
  static constexpr int kRegisters = kBulkRegisters;
};

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
    shared.init(task.stages, static_cast<unsigned>(arrivals * task.producers + task.decoders),
                static_cast<unsigned>(consumers));
    fence_async();
  }
  __syncthreads();
  if (warp < consumers)
    typename K::Consumer(task, shared, warp, lane).run();
  else if (warp < consumers + task.producers)
    BulkProducer<sizeof(typename K::Dense), !K::Entries::kDecoders>(task, shared, warp - consumers, lane)
        .run();
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
  return start_kernel<bulk_product<K>>({.blocks = dim3(blocks),
                                        .threads = threads,
                                        .shared_bytes = shared,
                                        .carveout = cudaSharedmemCarveoutMaxShared},
                                       *launch.device, stream, task);
}

}  // namespace sptile::runtime::cuda
