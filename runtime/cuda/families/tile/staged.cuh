// Skeleton of tile kernels for 64 columns of B and more. A warp multiplies one item for one slice of the
// columns; loads in flight are copies to shared memory.
//
// Warps share only caches. Each copies its operands asynchronously to its own part of shared memory: column
// ids and masks several tiles before the rows of B that they refer to, rows of B and values kStages - 1 tiles
// before their use. Copies form one group per tile, so that the warp waits for the next tile only; with loads
// to registers the compiler waits for all loads in flight. Rows of B are copied in runs of 128 bytes, one
// cache line lookup each, and loaded from shared memory in the order of the MMA.
#pragma once

#include <cstdint>

#include "runtime/cuda/collective/copy.cuh"
#include "runtime/cuda/device/ptx.cuh"
#include "runtime/cuda/families/tile/stages.hpp"
#include "runtime/cuda/families/tile/sums.cuh"

namespace sptile::runtime::cuda {

template <class K>
class TileStaged;

/// kShortRowsT: the blocks after those of the tiles multiply rows in classes (rs_tile).
template <class Source, class V, class Math, int kSegments, int kWarpsT, int kStages,
          bool kShortRowsT = false>
struct StagedKernel : TileShape<Source, V, Math, kSegments, true> {
  using Warp = TileStaged<StagedKernel>;
  using TileShape<Source, V, Math, kSegments, true>::kPolicy;
  static constexpr int kWarpsPerSm = kWarpsT;  ///< per multiprocessor
  static constexpr int kMinTiles =             ///< per warp
      kSegments > 2 ? kPolicy.wide_min_tiles : kPolicy.narrow_min_tiles;
  static constexpr int kRegisters = 65536 / (kWarpSize * kWarpsPerSm) / 8 * 8;
  static constexpr int kValueBytes = std::is_same_v<V, Ones> ? 0 : static_cast<int>(sizeof(V));
  using Stages = TileStages<kStages, kSegments, sizeof(typename Math::Chunk), Source::kHalves, kValueBytes>;
  static constexpr int kSharedBytes = Stages::kBytes;  ///< per warp
  static constexpr bool kShortRows = kShortRowsT;
};

/// Asynchronous copies of a warp.
template <class K>
class TileCopier {
  using Dense = typename K::Dense;
  using At = typename K::Stages;

 public:
  __device__ __forceinline__ TileCopier(const TileTask& task, const TileItem& item, int slice, int lane,
                                        std::uint32_t shared)
      : task_(task), tile_end_(item.tile_end), lane_(lane), shared_(shared) {
    // B: eight lanes copy a row, one chunk each.
    const std::int64_t feature = std::int64_t{slice} * K::kFeatures + (lane & 7) * K::kElements;
    left_ = static_cast<int>(min(task.n - feature, std::int64_t{K::kFeatures}));
    b_ = static_cast<const std::byte*>(task.b) + feature * std::int64_t{sizeof(Dense)};
    to_ = shared + At::chunk_at(lane >> 3, 0, 0, lane & 7);
    ids_ = shared + static_cast<std::uint32_t>(At::kIdsAt + 4 * K::Source::place(lane >> 3));
    // Heads: lanes 0 to 7 copy ids, the next lanes masks.
    const bool for_ids = lane < 8;
    head_bytes_ = for_ids ? 32 : At::kMaskBytes;
    const int piece = 16 * (for_ids ? lane : lane - 8);
    head_from_ = (for_ids ? reinterpret_cast<const std::byte*>(task.arrays.columns)
                          : static_cast<const std::byte*>(task.arrays.masks)) +
                 piece;
    head_to_ = shared + static_cast<std::uint32_t>(for_ids ? At::kIdsAt : At::kMasksAt) +
               static_cast<std::uint32_t>(piece);
    head_tile_ = piece / head_bytes_;
    // Values: a stream from a multiple of 16 bytes on.
    if constexpr (!K::kPattern) {
      const std::int64_t begin = item.value_begin * K::kValueBytes;
      used_ = static_cast<std::uint32_t>(begin % 16);
      values_ = static_cast<const std::byte*>(task.arrays.values) + (begin - used_) + 16 * lane;
      value_room_ =
          static_cast<int>(min(task.arrays.value_bytes - (begin - used_) - 16 * lane, std::int64_t{1} << 30));
    }
  }

  /// Starts the copies of the first tiles, from `tile` on.
  __device__ __forceinline__ void start(std::int32_t tile) {
    const std::int32_t first = tile & -At::kHeadGroup;
    copy_heads(first);
    copy_heads(first + At::kHeadGroup);
    copy_heads(first + 2 * At::kHeadGroup);
    if (first != tile) copy_heads(first + 3 * At::kHeadGroup);
    copy_commit();
    copy_wait<0>();
    __syncwarp();
    await_previous_kernel();
    copy_values();
#pragma unroll
    for (int d = 0; d < At::kStages - 1; ++d) {
      copy_rows(tile + d, static_cast<std::uint32_t>(d * At::kTileBytes));
      copy_commit();
    }
  }

  /// Starts the copies of the tile kStages - 1 after `tile`, to the stage at `stage`.
  __device__ __forceinline__ void go_on(std::int32_t tile, std::uint32_t stage) {
    copy_rows(tile + At::kStages - 1, stage);
    copy_values();
    if ((tile & (At::kHeadGroup - 1)) == 0) copy_heads(tile + 3 * At::kHeadGroup);
    copy_commit();
  }

  /// Returns the ring offset of the first unused value.
  __device__ __forceinline__ std::uint32_t used() const { return used_; }
  __device__ __forceinline__ void use(std::uint32_t values) { used_ += values * K::kValueBytes; }

 private:
  static constexpr std::uint32_t kRing = At::kRingBytes - 1;

  __device__ __forceinline__ void copy_heads(std::int32_t first) const {
    if (lane_ >= 8 + At::kMaskBytes * At::kHeadGroup / 16) return;
    // Lanes of tiles past the end copy nothing; of a piece with two masks, possibly one exists.
    const int there = (tile_end_ - first - head_tile_) * head_bytes_;
    const std::uint32_t at = static_cast<std::uint32_t>((first & (At::kHeadTiles - 1)) * head_bytes_);
    copy_up_to_16<8>(head_to_ + at, head_from_ + std::int64_t{first} * head_bytes_, there);
  }

  __device__ __forceinline__ void copy_rows(std::int32_t tile, std::uint32_t stage) const {
    const int left = tile < tile_end_ ? left_ : 0;
    const int2 column = ids(ids_ + static_cast<std::uint32_t>((tile & (At::kHeadTiles - 1)) * 32));
    const Dense* const row[2] = {dense_row(column.x), dense_row(column.y)};
#pragma unroll
    for (int s = 0; s < K::kSegments; ++s)
#pragma unroll
      for (int k = 0; k < 2; ++k)
        copy_if<At::kChunkBytes>(left > s * K::kSegmentFeatures, to_ + stage + At::chunk_at(0, k, s, 0),
                                 row[k] + s * K::kSegmentFeatures);
  }

  static __device__ __forceinline__ int2 ids(std::uint32_t at) {
    if constexpr (K::Source::kApart == 1) {
      const uint2 both = shared_pair(at);
      return {static_cast<int>(both.x), static_cast<int>(both.y)};
    } else {
      return {static_cast<int>(shared_word(at)), static_cast<int>(shared_word(at + 4 * K::Source::kApart))};
    }
  }

  __device__ __forceinline__ const Dense* dense_row(std::int32_t column) const {
    return reinterpret_cast<const Dense*>(b_ + std::uint64_t{static_cast<std::uint32_t>(column)} *
                                                   task_.ldb_bytes);
  }

  /// Keeps the values of all tiles in flight in flight.
  __device__ __forceinline__ void copy_values() {
    if constexpr (!K::kPattern) {
      constexpr int kAhead = At::kRingBytes - At::kValueBlock;
#pragma unroll 1
      while (static_cast<int>(brought_ - used_) < kAhead) {
        if (16 * lane_ < At::kValueBlock)
          copy_up_to_16<K::kValueBytes>(
              shared_ + At::kValuesAt + ((brought_ + 16 * lane_) & (At::kRingBytes - 1)), values_ + brought_,
              value_room_ - static_cast<int>(brought_));
        brought_ += At::kValueBlock;
      }
    }
  }

  const TileTask& task_;
  std::int32_t tile_end_;
  int lane_;
  std::uint32_t shared_;
  const std::byte* b_;  ///< the features of row 0 that the lane copies
  int left_;            ///< number of these that exist
  std::uint32_t to_;    ///< their position in the first stage
  std::uint32_t ids_;   ///< ids of the rows that the lane copies, of tile 0 of the ring
  const std::byte* head_from_;
  std::uint32_t head_to_;
  int head_bytes_, head_tile_;
  const std::byte* values_;               ///< the lane's 16 bytes of the first block
  int value_room_;                        ///< bytes of values from values_ on
  std::uint32_t brought_ = 0, used_ = 0;  ///< bytes of the stream
};

template <class K>
class TileStaged : TileSums<K> {
  using Base = TileSums<K>;
  using Source = typename K::Source;
  using Math = typename K::Math;
  using V = typename K::Value;
  using At = typename K::Stages;
  using Base::item_, Base::lane_, Base::shared_, Base::sums_;

 public:
  __device__ __forceinline__ TileStaged(const TileTask& task, const TileItem& item, int slice, int lane,
                                        std::uint32_t shared)
      : Base(task, item, slice, lane, shared),
        prefix_(Source::prefix(lane)),
        copier_(task, item, slice, lane, shared) {
    chunks_ = shared + At::chunk_at(lane_member(lane), 0, 0, lane_group(lane));
  }

  __device__ __forceinline__ void run() {
    if (item_.tile_begin < item_.tile_end)
      multiply_tiles();
    else
      await_previous_kernel();
    this->finish();
  }

 private:
  __device__ __forceinline__ void multiply_tiles() {
    constexpr std::uint32_t kLast = (At::kStages - 1) * At::kTileBytes;
    std::uint32_t stage = 0, free_stage = kLast;
    copier_.start(item_.tile_begin);
    for (std::int32_t tile = item_.tile_begin; tile < item_.tile_end; ++tile) {
      copy_wait<At::kStages - 2>();
      __syncwarp();
      copier_.go_on(tile, free_stage);
      this->end_windows(tile);
      multiply(tile, stage);
      free_stage = stage;
      stage = stage == kLast ? 0 : stage + At::kTileBytes;
    }
  }

  __device__ __forceinline__ void multiply(std::int32_t tile, std::uint32_t stage) {
    const TilePairs<K::kHalves> pairs = Source::pairs(mask(tile), prefix_);
    typename Math::template Entries<V> entry[K::kHalves];
#pragma unroll
    for (int h = 0; h < K::kHalves; ++h) entry[h] = entries(pairs.half[h]);
    copier_.use(pairs.count);
#pragma unroll
    for (int s = 0; s < K::kSegments; ++s) {
      const typename Math::Fragment f = Math::fragment(chunk(stage, s, 0), chunk(stage, s, 1));
#pragma unroll
      for (int h = 0; h < K::kHalves; ++h) Math::multiply(sums_[h][s], f, entry[h]);
    }
  }

  __device__ __forceinline__ typename Source::Mask mask(std::int32_t tile) const {
    const std::uint32_t at =
        shared_ + static_cast<std::uint32_t>(At::kMasksAt + (tile & (At::kHeadTiles - 1)) * At::kMaskBytes);
    if constexpr (sizeof(typename Source::Mask) == 8)
      return shared_pair(at);
    else
      return shared_piece(at);
  }

  __device__ __forceinline__ auto entries(const LanePair& pair) const {
    if constexpr (K::kPattern)
      return Math::template ones<V>(pair.present[0], pair.present[1]);
    else
      return Math::entries(value(pair, 0), value(pair, 1));
  }

  __device__ __forceinline__ V value(const LanePair& pair, int k) const {
    const std::uint32_t at = copier_.used() + pair.index[k] * K::kValueBytes;
    return shared_element_if<V>(shared_ + At::kValuesAt + (at & (At::kRingBytes - 1)), pair.present[k]);
  }

  __device__ __forceinline__ typename Math::Chunk chunk(std::uint32_t stage, int segment, int k) const {
    const std::uint32_t at = chunks_ + stage + At::chunk_at(0, k, segment, 0);
    typename Math::Chunk chunk;
    if constexpr (sizeof chunk == 16) {
      const uint4 words = shared_piece(at);
      __builtin_memcpy(&chunk, &words, sizeof chunk);
    } else {
      const uint2 words = shared_pair(at);
      __builtin_memcpy(&chunk, &words, sizeof chunk);
    }
    return chunk;
  }

  typename Source::Prefix prefix_;
  TileCopier<K> copier_;
  std::uint32_t chunks_;  ///< the lane's chunk of its first row in the first stage
};

}  // namespace sptile::runtime::cuda
