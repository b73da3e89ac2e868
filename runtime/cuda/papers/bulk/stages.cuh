// Access of consumer warps to the stages: after producers have filled them, or after all warps have.
#pragma once

#include "runtime/cuda/collective/copy.cuh"
#include "runtime/cuda/device/ptx.cuh"
#include "runtime/cuda/papers/bulk/task.cuh"

namespace sptile::runtime::cuda {

/// Stages that producers, and decoders if any, fill.
class BulkFilledStages {
 public:
  __device__ __forceinline__ BulkFilledStages(const BulkTask& /*task*/, const BulkShared& shared)
      : shared_(shared) {}

  /// Waits for the stage of the cursor.
  __device__ __forceinline__ void wait(StageCursor& cursor, const BulkParts& /*parts*/,
                                       std::int32_t /*tile*/) const {
    shared_.wait_full(cursor);
  }

  /// Releases the stage to the producers. Loads must complete before a bulk copy writes, which only the fence
  /// orders: without it, tiles were multiplied by rows of a later stage.
  __device__ __forceinline__ void release(int stage, int lane) const {
    fence_async();
    __syncwarp();
    if (lane == 0) barrier_arrive(shared_.empty(stage));
  }

 private:
  const BulkShared& shared_;
};

/// Stages that consumers read without waiting, whatever they contain, and do not release.
class BulkUnorderedStages {
 public:
  __device__ __forceinline__ BulkUnorderedStages(const BulkTask& /*task*/, const BulkShared& /*shared*/) {}

  __device__ __forceinline__ void wait(const StageCursor& /*cursor*/, const BulkParts& /*parts*/,
                                       std::int32_t /*tile*/) const {}
  __device__ __forceinline__ void release(int /*stage*/, int /*lane*/) const {}
};

/// One stage that all warps of the block fill, between two barriers of the block: no warp has a role. kDense
/// is the size of an element of B.
template <int kDense>
class BulkOwnStage {
 public:
  __device__ __forceinline__ BulkOwnStage(const BulkTask& task, const BulkShared& shared)
      : task_(task), shared_(shared) {}

  /// Loads the tiles from `tile` on. All threads of the block take part.
  __device__ __forceinline__ void wait(const StageCursor& cursor, const BulkParts& parts,
                                       std::int32_t tile) const {
    __syncthreads();  // all warps have read the previous tiles
    const std::uint32_t stage = shared_.stage(task_, cursor.stage);
    const int tiles = min(task_.stage_tiles, parts.part().tile_end - tile);
    copy_words(stage, tile, tiles);
    if (task_.copy == BulkCopy::elements)
      copy_rows<kDense>(stage, parts, tile, tiles);
    else
      copy_rows<16>(stage, parts, tile, tiles);
    copy_wait_all();
    __syncthreads();
  }

  __device__ __forceinline__ void release(int /*stage*/, int /*lane*/) const {}

 private:
  static constexpr std::uint32_t kWordBytes = 16;  ///< bytes of the words of a tile

  __device__ __forceinline__ void copy_words(std::uint32_t stage, std::int32_t tile, int tiles) const {
    const auto i = static_cast<std::uint32_t>(threadIdx.x);
    if (i < static_cast<std::uint32_t>(tiles))
      copy_16(stage + static_cast<std::uint32_t>(task_.stage.entries_at) + i * kWordBytes,
              static_cast<const std::byte*>(task_.tiles.arrays.masks) +
                  (std::int64_t{tile} + i) * std::int64_t{kWordBytes});
  }

  /// Copies the part's segments of the rows of B, kBytes per thread and step.
  template <int kBytes>
  __device__ __forceinline__ void copy_rows(std::uint32_t stage, const BulkParts& parts, std::int32_t tile,
                                            int tiles) const {
    const std::int64_t slice = std::int64_t{parts.slice()} * task_.slice_segments;
    const std::int64_t offset = (slice + parts.part().segment_begin) * kBulkSegmentBytes;
    const std::int64_t end =
        min(task_.tiles.n * kDense, (slice + parts.part().segment_end) * kBulkSegmentBytes);
    // A plan may have more columns than the product.
    const int pieces = static_cast<int>(max(end - offset, std::int64_t{0})) / kBytes;
    const std::byte* const b = static_cast<const std::byte*>(task_.tiles.b) + offset;
    const std::int32_t* const columns = task_.tiles.arrays.columns + 8 * std::int64_t{tile};
    const std::uint32_t to =
        stage + static_cast<std::uint32_t>(parts.part().segment_begin * kBulkSegmentBytes);
    for (int i = static_cast<int>(threadIdx.x); i < 8 * tiles * pieces; i += static_cast<int>(blockDim.x)) {
      const int row = i / pieces, byte = i % pieces * kBytes;
      const auto column = static_cast<std::uint32_t>(__ldg(columns + row));
      const std::uint32_t at = to + static_cast<std::uint32_t>(row * task_.stage.pitch + byte);
      const std::byte* const from = b + column * task_.tiles.ldb_bytes + byte;
      if constexpr (kBytes == 16)
        copy_16(at, from);
      else
        copy_number<kBytes>(at, from);
    }
  }

  const BulkTask& task_;
  const BulkShared& shared_;
};

}  // namespace sptile::runtime::cuda
