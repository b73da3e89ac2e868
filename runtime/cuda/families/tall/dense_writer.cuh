// The warps of a tall block that write chunks as dense tiles, entries among zeros, one or two chunks before
// they are multiplied.
#pragma once

#include <cstddef>

#include "runtime/cuda/collective/copy.cuh"
#include "runtime/cuda/device/ptx.cuh"
#include "runtime/cuda/families/tall/dense_tiles.cuh"

namespace sptile::runtime::cuda {

template <class K>
class TallDenseWriter {
  using Math = typename K::Math;
  using V = typename K::Value;

 public:
  __device__ __forceinline__ TallDenseWriter(const TallTask& task, const TallShared& shared,
                                             const TallItem& item, int writer, int lane)
      : task_(task),
        shared_(shared),
        item_(item),
        thread_(static_cast<std::uint32_t>(kWarpSize * writer + lane)) {}

  __device__ __forceinline__ void run() {
    StageCursor cursor, tiles;
    for (std::int32_t chunk = item_.chunk; chunk < item_.end_chunk; ++chunk) {
      shared_.wait_full(cursor);
      const std::uint32_t stage = shared_.stage(task_, cursor.stage);
      const uint4 head = shared_piece(stage + at(task_.stage.chunk_at));
      shared_.dense().wait_empty(tiles);
      write(shared_.tiles(task_, tiles.stage), stage, head);
      fence_async();
      __syncwarp();
      if (thread_ % kWarpSize == 0) {
        barrier_arrive(shared_.empty(cursor.stage));
        barrier_arrive(shared_.dense().full(tiles.stage));
      }
      cursor.advance(task_.stages);
      tiles.advance(kTallDenseChunks);
    }
  }

 private:
  static __device__ __forceinline__ std::uint32_t at(int offset) {
    return static_cast<std::uint32_t>(offset);
  }

  /// Values and places are copied in 16-byte units that contain the needed ones.
  __device__ __forceinline__ void write(std::uint32_t tiles, std::uint32_t stage, const uint4& head) const {
    constexpr std::uint32_t kThreads = kTallWriters * kWarpSize, kBytes = kTallChunkGroups * K::kGroupBytes;
#pragma unroll
    for (std::uint32_t piece = 0; piece < kBytes; piece += 16 * kThreads)
      store_piece_16(tiles + piece + 16 * thread_, {0, 0, 0, 0});
    const std::uint32_t entries = shared_word(stage + at(task_.stage.chunk_at) + offsetof(TallChunk, values));
    const std::uint32_t first = head.y;
    const std::uint32_t places = stage + at(task_.stage.places_at) + 2 * (first - aligned_down(first, 2));
    std::uint32_t values = stage + at(task_.stage.values_at);
    values += (first - aligned_down(first, K::kValueBytes)) * K::kValueBytes;
    group_sync<1, kThreads>();  // zeros before entries
    constexpr std::uint32_t kAtOnce = 8;
#pragma unroll 1
    for (std::uint32_t i = thread_; i < entries; i += kAtOnce * kThreads) {
      std::uint32_t place[kAtOnce], entry[kAtOnce];
#pragma unroll
      for (std::uint32_t u = 0; u < kAtOnce; ++u) {
        const bool wanted = i + u * kThreads < entries;
        place[u] = wanted ? shared_half(places + 2 * (i + u * kThreads)) : 0u;
        entry[u] = entry_at(values, i + u * kThreads, wanted && task_.values != nullptr);
      }
#pragma unroll
      for (std::uint32_t u = 0; u < kAtOnce; ++u)
        if (i + u * kThreads >= entries)
          continue;
        else if constexpr (K::kSwizzled)
          store_half(tiles + 2 * place[u], static_cast<unsigned short>(entry[u]));
        else
          store_word(tiles + 4 * place[u], entry[u]);
    }
  }

  /// Returns the bits of an entry. If it is not there, it is not used or 1 of a pattern.
  static __device__ __forceinline__ std::uint32_t entry_at(std::uint32_t values, std::uint32_t k,
                                                           bool there) {
    if constexpr (K::kSwizzled)
      return there ? shared_half(values + 2 * k) : Math::ones(true, false).pair;
    else
      return there ? Math::entries(shared_element_if<V>(values + k * K::kValueBytes, true), V{}).big[0]
                   : Math::ones(true, true).big[0];
  }

  const TallTask& task_;
  const TallShared& shared_;
  const TallItem& item_;
  std::uint32_t thread_;  ///< index among the writers
};

}  // namespace sptile::runtime::cuda
