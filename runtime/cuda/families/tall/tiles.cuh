// Products of tiles by the warp that owns their rows: kSubWindows * 8 rows of the window and kSegments
// segments of the slice.
#pragma once

#include <cstddef>

#include "runtime/cuda/collective/copy.cuh"
#include "runtime/cuda/device/ptx.cuh"
#include "runtime/cuda/families/tall/result.cuh"

namespace sptile::runtime::cuda {

/// A lane's part of the sparse operand of a tile.
template <class Math, class V>
struct EntriesOf {
  using type = decltype(Math::entries(V{}, V{}));
};
template <class Math>
struct EntriesOf<Math, Ones> {
  using type = decltype(Math::ones(true, true));
};

template <class K>
class TallTiles {
  using Math = typename K::Math;
  using V = typename K::Value;
  using Chunk = typename Math::Chunk;
  static constexpr int kSubWindows = K::kSubWindows;
  using Sums = typename TallResult<K>::Window;

 public:
  __device__ __forceinline__ TallTiles(const TallTask& task, const TallShared&, const TallPart& part)
      : task_(task), half_(tall_half(part.lane)), sub_window_(part.sub_window) {
    dense_at_ = static_cast<std::uint32_t>(tall_fragment_at(part.lane, 0, 0, part.segment, task.stage.pitch));
  }

  /// Adds the products of the chunk of a stage. Calls release() once it has been read.
  template <class Release>
  __device__ __forceinline__ void multiply(Sums& sums, std::uint32_t stage, const uint4& head,
                                           const Release& release) {
    multiply_chunk(sums, stage, head);
    release();
  }

 private:
  using TileEntries = typename EntriesOf<Math, V>::type;

  __device__ __forceinline__ TileEntries entries_of(const uint2& bits, std::uint32_t values) const {
    const LanePair pair = tall_pair(bits.x, bits.y, half_);
    if constexpr (K::kValueBytes == 0)
      return Math::ones(pair.present[0], pair.present[1]);
    else
      return Math::entries(shared_element_if<V>(values + pair.index[0] * K::kValueBytes, pair.present[0]),
                           shared_element_if<V>(values + pair.index[1] * K::kValueBytes, pair.present[1]));
  }

  /// Multiplies the tiles of the warp's sub-windows. Loads bitmaps and offsets first, then values, then rows
  /// of B, so that loads of one kind are in flight together.
  __device__ __forceinline__ void multiply_chunk(Sums& sums, std::uint32_t stage, const uint4& head) {
    const std::uint32_t first_tile = head.x & ~kTallLast;
    // Copies start at multiples of 16 bytes.
    const std::uint32_t bitmaps =
        stage + static_cast<std::uint32_t>(task_.stage.bitmaps_at) + first_tile % 2 * 8;
    const std::uint32_t offsets =
        stage + static_cast<std::uint32_t>(task_.stage.offsets_at) + first_tile % 4 * 4;
    std::uint32_t values = stage + static_cast<std::uint32_t>(task_.stage.values_at);
    if constexpr (K::kValueBytes > 0) values -= aligned_down(head.y, K::kValueBytes) * K::kValueBytes;
    const std::uint32_t places =
        stage + static_cast<std::uint32_t>(task_.stage.chunk_at + offsetof(TallChunk, place));

    bool mine[kTallChunkGroups][kSubWindows];
    uint2 bits[kTallChunkGroups][kSubWindows];
    std::uint32_t offset[kTallChunkGroups][kSubWindows] = {};
#pragma unroll
    for (int h = 0; h < kSubWindows; ++h) {
      const std::uint32_t four = shared_word(places + 4 * static_cast<std::uint32_t>(sub_window_ + h));
#pragma unroll
      for (int g = 0; g < kTallChunkGroups; ++g) {
        const std::uint32_t place = four >> (8 * g) & 0xffu;
        mine[g][h] = place != kTallNoTile;
        bits[g][h] = {0, 0};
        if (mine[g][h]) bits[g][h] = shared_pair(bitmaps + 8 * place);
        if (K::kValueBytes > 0 && mine[g][h]) offset[g][h] = shared_word(offsets + 4 * place);
      }
    }
    TileEntries entries[kTallChunkGroups][kSubWindows];
#pragma unroll
    for (int g = 0; g < kTallChunkGroups; ++g)
#pragma unroll
      for (int h = 0; h < kSubWindows; ++h)
        entries[g][h] = entries_of(bits[g][h], values + offset[g][h] * K::kValueBytes);
#pragma unroll
    for (int g = 0; g < kTallChunkGroups; ++g)
      multiply_group(sums, stage + dense_at_ + static_cast<std::uint32_t>(8 * g * task_.stage.pitch),
                     entries[g], mine[g]);
  }

  /// Multiplies the tiles of the warp's sub-windows in a group.
  __device__ __forceinline__ void multiply_group(Sums& sums, std::uint32_t dense,
                                                 const TileEntries (&entries)[kSubWindows],
                                                 const bool (&mine)[kSubWindows]) {
    bool any = false;
#pragma unroll
    for (int h = 0; h < kSubWindows; ++h) any = any || mine[h];
    if (!any) return;
#pragma unroll
    for (int s = 0; s < K::kSegments; ++s) {
      const std::uint32_t at = dense + s * kTallSegmentBytes;
      const typename Math::Fragment f =
          Math::fragment(shared_element_if<Chunk>(at, true),
                         shared_element_if<Chunk>(at + static_cast<std::uint32_t>(task_.stage.pitch), true));
#pragma unroll
      for (int h = 0; h < kSubWindows; ++h)
        if (kSubWindows == 1 || mine[h]) Math::multiply(sums[h][s], f, entries[h]);
    }
  }

  const TallTask& task_;
  TallHalf half_;
  int sub_window_;
  std::uint32_t dense_at_;
};

}  // namespace sptile::runtime::cuda
