// Skeleton of tile kernels for few columns of B and for operands of any alignment. A warp multiplies one item
// for one slice of the columns; loads in flight are in registers.
//
// For each tile the warp
//   - loads column ids and mask 2 * kDepth tiles ahead, which determine later addresses,
//   - loads values and rows of B kDepth tiles ahead, 16 bytes per lane, and
//   - multiplies the tile.
// 8 adjacent lanes load 128 consecutive bytes of one row of B, which takes one cache line lookup instead of
// four, and then exchange them. The pipeline does not drain at the end of a window, so that windows of one or
// two tiles cost little more than their tiles.
#pragma once

#include <cstdint>

#include "runtime/cuda/collective/exchange.cuh"
#include "runtime/cuda/families/tile/sums.cuh"

namespace sptile::runtime::cuda {

template <class K>
class TileDirect;

/// Registers per thread.
template <class Source, class Math>
constexpr int direct_registers(int segments, bool vector) {
  constexpr TilePolicy kPolicy = kTilePolicy<Source, Math>;
  if (!vector) return kPolicy.unaligned_registers;
  if (sizeof(typename Math::Chunk) < 16) return kPolicy.half_registers;
  return segments == 1 ? kPolicy.registers_1 : kPolicy.registers_2;
}

template <class Source, class V, class Math, int kSegments, bool kVector,
          int kRegistersT = direct_registers<Source, Math>(kSegments, kVector)>
struct DirectKernel : TileShape<Source, V, Math, kSegments, kVector> {
  using Warp = TileDirect<DirectKernel>;
  using TileShape<Source, V, Math, kSegments, kVector>::kPolicy;
  static constexpr int kRegisters = kRegistersT;                                  ///< per thread
  static constexpr int kWarpsPerSm = 65536 / (kWarpSize * kRegisters);            ///< limited by registers
  static constexpr int kMinTiles = kSegments > 1 ? kPolicy.direct_min_tiles : 0;  ///< per warp
  static constexpr int kSharedBytes = 0;                                          ///< per warp
  static constexpr int kDepth = kPolicy.direct_tiles;
  /// Tiles per MMA. 2 requires Math::multiply_block, an even kDepth, and items of one window each.
  static constexpr int kBlockTiles = 1;
};

/// Loads heads of tiles: the ids of the rows of B that the lane loads, and the mask.
template <class Source>
class TileHeads {
 public:
  struct Head {
    int2 column;
    typename Source::Mask mask;
  };

  __device__ __forceinline__ TileHeads(const TileArrays& a, int member)
      : column_(a.columns + Source::place(member)),
        masks_(static_cast<const typename Source::Mask*>(a.masks)) {
    keep(column_);
    keep(masks_);
  }
  __device__ __forceinline__ Head read(std::int32_t tile) const {
    const std::int32_t* const ids = column_ + std::int64_t{tile} * 8;
    Head head;
    if constexpr (Source::kApart == 1)
      head.column = __ldg(reinterpret_cast<const int2*>(ids));
    else
      head.column = {__ldg(ids), __ldg(ids + Source::kApart)};
    head.mask = __ldg(masks_ + tile);
    return head;
  }

 private:
  const std::int32_t* column_;  ///< columns of the first tile
  const typename Source::Mask* masks_;
};

template <class K>
class TileDirect : TileSums<K> {
  using Base = TileSums<K>;
  using Source = typename K::Source;
  using Head = typename TileHeads<Source>::Head;
  using Math = typename K::Math;
  using V = typename K::Value;
  using Dense = typename K::Dense;
  using Base::item_, Base::lane_, Base::sums_, Base::task_;

  /// A tile whose values and rows of B are in flight.
  struct Stage {
    typename Math::Chunk dense[K::kSegments][2];
    V value[K::kHalves][2];
    bool present[K::kHalves][2];  ///< without values
  };

 public:
  __device__ __forceinline__ TileDirect(const TileTask& task, const TileItem& item, int slice, int lane,
                                        std::uint32_t shared)
      : Base(task, item, slice, lane, shared),
        heads_(task.arrays, lane_member(loaded_for(lane))),
        prefix_(Source::prefix(lane)) {
    const std::int64_t loaded =
        std::int64_t{slice} * K::kFeatures + lane_feature(loaded_for(lane), 0, K::kElements);
    load_left_ = static_cast<int>(min(task.n - loaded, std::int64_t{K::kFeatures}));
    b_ = static_cast<const std::byte*>(task.b) + loaded * std::int64_t{sizeof(Dense)};
    keep(load_left_);
    keep(b_);
    values_ = static_cast<const V*>(task.arrays.values);
    if constexpr (!K::kPattern) values_ += item.value_begin;
  }

  __device__ __forceinline__ void run() {
    if (item_.tile_begin < item_.tile_end)
      multiply_tiles();
    else
      await_previous_kernel();
    this->finish();
  }

 private:
  __device__ __forceinline__ void clear_stages(Stage (&stage)[K::kDepth]) {
#pragma unroll
    for (int d = 0; d < K::kDepth; ++d)
#pragma unroll
      for (int s = 0; s < K::kSegments; ++s)
#pragma unroll
        for (int k = 0; k < 2; ++k) stage[d].dense[s][k] = {};
  }

  /// Multiplies the tiles of the item. Loads are predicated rather than skipped by a branch: where paths with
  /// and without a load join, the compiler waits for all loads that may be in flight.
  __device__ __forceinline__ void multiply_tiles() {
    const std::int32_t begin = item_.tile_begin, end = item_.tile_end;
    Head head[K::kDepth];
    Stage stage[K::kDepth];
    clear_stages(stage);
#pragma unroll
    for (int d = 0; d < K::kDepth; ++d) head[d] = read_head(begin + d);
    await_previous_kernel();
#pragma unroll
    for (int d = 0; d < K::kDepth; ++d) {
      read_tile(stage[d], head[d], begin + d < end);
      head[d] = read_head(begin + d + K::kDepth);
    }
    for (std::int32_t tile = begin; tile < end; tile += K::kDepth) {
#pragma unroll
      for (int d = 0; d < K::kDepth; d += K::kBlockTiles) {
        if (tile + d >= end) break;
        this->end_windows(tile + d);
        if (K::kBlockTiles == 1 || tile + d + 1 == end)
          multiply(stage[d]);
        else
          multiply_block(stage[d], stage[d + K::kBlockTiles - 1]);
#pragma unroll
        for (int e = d; e < d + K::kBlockTiles; ++e) {
          read_tile(stage[e], head[e], tile + e + K::kDepth < end);
          head[e] = read_head(tile + e + 2 * K::kDepth);
        }
      }
    }
  }

  /// Loads the head of a tile; past the end, that of the last tile.
  __device__ __forceinline__ Head read_head(std::int32_t tile) const {
    return heads_.read(min(tile, item_.tile_end - 1));
  }

  /// Starts the loads of a tile if `there`.
  __device__ __forceinline__ void read_tile(Stage& stage, const Head& head, bool there) {
    const TilePairs<K::kHalves> pairs = Source::pairs(there ? head.mask : typename Source::Mask{}, prefix_);
    const int left = there ? load_left_ : 0;
#pragma unroll
    for (int h = 0; h < K::kHalves; ++h)
#pragma unroll
      for (int k = 0; k < 2; ++k)
        if constexpr (K::kPattern)
          stage.present[h][k] = pairs.half[h].present[k];
        else
          stage.value[h][k] = value_if(values_, pairs.half[h].index[k], pairs.half[h].present[k]);
    if constexpr (!K::kPattern) values_ += pairs.count;
    const Dense* const row[2] = {dense_row(head.column.x), dense_row(head.column.y)};
#pragma unroll
    for (int s = 0; s < K::kSegments; ++s)
#pragma unroll
      for (int k = 0; k < 2; ++k)
        load_chunk<K::kVector>(stage.dense[s][k], row[k] + s * K::kSegmentFeatures,
                               left - s * K::kSegmentFeatures);
  }

  __device__ __forceinline__ const Dense* dense_row(std::int32_t column) const {
    return reinterpret_cast<const Dense*>(b_ + std::uint64_t{static_cast<std::uint32_t>(column)} *
                                                   task_.ldb_bytes);
  }

  __device__ __forceinline__ auto entries(const Stage& stage, int h) const {
    if constexpr (K::kPattern)
      return Math::template ones<V>(stage.present[h][0], stage.present[h][1]);
    else
      return Math::entries(stage.value[h][0], stage.value[h][1]);
  }

  /// Returns the chunk that the lane multiplies, in exchange for the one that it loaded.
  __device__ __forceinline__ typename Math::Chunk mine(const typename Math::Chunk& loaded) const {
    return shuffle_words(loaded, row_loader(lane_));
  }

  __device__ __forceinline__ void multiply(const Stage& stage) {
#pragma unroll
    for (int s = 0; s < K::kSegments; ++s) {
      const typename Math::Fragment f = Math::fragment(mine(stage.dense[s][0]), mine(stage.dense[s][1]));
#pragma unroll
      for (int h = 0; h < K::kHalves; ++h) Math::multiply(sums_[h][s], f, entries(stage, h));
    }
  }

  /// Multiplies two tiles of one window by MMAs of twice the depth.
  __device__ __forceinline__ void multiply_block(const Stage& left, const Stage& right) {
    if constexpr (K::kBlockTiles == 2)
#pragma unroll
      for (int s = 0; s < K::kSegments; ++s) {
        const typename Math::Fragment f[2] = {
            Math::fragment(mine(left.dense[s][0]), mine(left.dense[s][1])),
            Math::fragment(mine(right.dense[s][0]), mine(right.dense[s][1]))};
#pragma unroll
        for (int h = 0; h < K::kHalves; ++h)
          Math::multiply_block(sums_[h][s], f, entries(left, h), entries(right, h));
      }
  }

  TileHeads<Source> heads_;
  typename Source::Prefix prefix_;
  int load_left_;       ///< features from the first one that the lane loads to n
  const std::byte* b_;  ///< the first feature of row 0 that the lane loads
  const V* values_;
};

}  // namespace sptile::runtime::cuda
