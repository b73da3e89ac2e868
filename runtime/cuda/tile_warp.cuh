// The skeleton of all tile kernels: one warp, one item, one slice of the columns of B.
//
// Nothing is shared between warps and nothing goes through shared memory. Tile after tile the warp
//   - reads column ids and mask 2 * kDepth tiles ahead (they say where to read next),
//   - reads the values and the B rows kDepth tiles ahead, 16 bytes a lane, and
//   - multiplies what has arrived.
// Windows end where they end: the pipeline runs on across them, so windows of one or two tiles cost little
// more than their tiles.
#pragma once

#include <cstdint>

#include "runtime/cuda/window_cursor.cuh"

namespace sptile::runtime::cuda {

/// Whether B rows are loaded in runs of 128 bytes and then exchanged between lanes.
inline constexpr bool kLoadRows = true;

/// How a kernel is compiled: what its tiles are, how it multiplies, how many segments of features a warp has.
template <class SourceT, class V, class MathT, int kSegmentsT, bool kVectorT, int kRegistersT,
          bool kRowLoadsT = kLoadRows>
struct TileKernel {
  using Source = SourceT;
  using Value = V;
  using Math = MathT;
  using Dense = typename Math::Dense;
  using Acc = typename Math::Acc;
  static constexpr int kSegments = kSegmentsT;
  static constexpr bool kVector = kVectorT;
  static constexpr int kRegisters = kRegistersT;                    ///< of a thread, at most
  static constexpr int kWarpsPerSm = 65536 / (kWarp * kRegisters);  ///< that leave each other room
  static constexpr bool kRowLoads = kRowLoadsT;  ///< lanes exchange what they loaded: see row_loader
  static constexpr int kDepth = 2;
  static constexpr int kHalves = Source::kHalves;
  static constexpr int kElements = Math::kElements;
  static constexpr int kSegmentFeatures = 8 * kElements;
  static constexpr int kFeatures = kSegments * kSegmentFeatures;
};

template <class K>
class TileWarp {
  using Source = typename K::Source;
  using Math = typename K::Math;
  using V = typename K::Value;
  using Dense = typename K::Dense;
  using Acc = typename K::Acc;

  /// A tile whose values and B rows are on their way.
  struct Stage {
    typename Math::Chunk dense[K::kSegments][2];
    V value[K::kHalves][2];
    bool present[K::kHalves][2];  ///< of a pattern
  };

 public:
  __device__ __forceinline__ TileWarp(const TileTask& task, const TileItem& item, int slice, int lane)
      : task_(task),
        item_(item),
        lane_(lane),
        source_(task.arrays, lane, K::kRowLoads ? loaded_for(lane) : lane),
        windows_(task, item.window_begin, item.window_end, lane) {
    feature_ = std::int64_t{slice} * K::kFeatures + lane_feature(lane, 0, K::kElements);
    left_ = static_cast<int>(min(task.n - feature_, std::int64_t{K::kFeatures}));
    const int loads_for = K::kRowLoads ? loaded_for(lane) : lane;
    const std::int64_t loaded = std::int64_t{slice} * K::kFeatures + lane_feature(loads_for, 0, K::kElements);
    load_left_ = static_cast<int>(min(task.n - loaded, std::int64_t{K::kFeatures}));
    b_ = static_cast<const std::byte*>(task.b) + loaded * std::int64_t{sizeof(Dense)};
    keep(left_);
    keep(load_left_);
    keep(b_);
    window_end_ = item.slot < 0 ? windows_.end() : -1;  // a piece of a window ends nowhere
    values_ = static_cast<const V*>(task.arrays.values);
    if constexpr (!std::is_same_v<V, Ones>) values_ += item.value_begin;
  }

  __device__ __forceinline__ void run() {
    clear_sums();
    if (item_.tile_begin < item_.tile_end) multiply_tiles();
    if (item_.slot >= 0)
      store_partial();
    else
      while (!windows_.done()) close_window();
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
  __device__ __forceinline__ void clear_sums() {
    constexpr int kCount = sizeof(typename Math::Sums) / sizeof(Acc);
#pragma unroll
    for (int h = 0; h < K::kHalves; ++h)
#pragma unroll
      for (int s = 0; s < K::kSegments; ++s)
#pragma unroll
        for (int i = 0; i < kCount; ++i) (&sums_[h][s][0][0])[i] = Acc{0};
  }

  /// The loop. Loads are never skipped by a branch, only switched off: where paths with and without a load
  /// meet, the compiler waits for all that may be on their way.
  __device__ __forceinline__ void multiply_tiles() {
    const std::int32_t begin = item_.tile_begin, end = item_.tile_end;
    typename Source::Raw raw[K::kDepth];
    Stage stage[K::kDepth];
    clear_stages(stage);
#pragma unroll
    for (int d = 0; d < K::kDepth; ++d) raw[d] = read_raw(begin + d);
#pragma unroll
    for (int d = 0; d < K::kDepth; ++d) {
      read_tile(stage[d], raw[d], begin + d < end);
      raw[d] = read_raw(begin + d + K::kDepth);
    }
    for (std::int32_t tile = begin; tile < end; tile += K::kDepth) {
#pragma unroll
      for (int d = 0; d < K::kDepth; ++d) {
        if (tile + d >= end) break;
        while (tile + d == window_end_) close_window();
        multiply(stage[d]);
        read_tile(stage[d], raw[d], tile + d + K::kDepth < end);
        raw[d] = read_raw(tile + d + 2 * K::kDepth);
      }
    }
  }

  /// Reads the ids and the mask of a tile; past the end those of the last tile again.
  __device__ __forceinline__ typename Source::Raw read_raw(std::int32_t tile) const {
    return Source::load(min(tile, item_.tile_end - 1), source_);
  }

  /// Starts the loads of a tile, if there is one.
  __device__ __forceinline__ void read_tile(Stage& stage, const typename Source::Raw& raw, bool there) {
    const TilePairs<K::kHalves> pairs = Source::pairs(raw, source_, there);
    const int left = there ? load_left_ : 0;
#pragma unroll
    for (int h = 0; h < K::kHalves; ++h)
#pragma unroll
      for (int k = 0; k < 2; ++k)
        if constexpr (std::is_same_v<V, Ones>)
          stage.present[h][k] = pairs.half[h].present[k];
        else
          stage.value[h][k] = value_if(values_, pairs.half[h].index[k], pairs.half[h].present[k]);
    if constexpr (!std::is_same_v<V, Ones>) values_ += pairs.count;
    const Dense* const row[2] = {dense_row(raw.column.x), dense_row(raw.column.y)};
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
    if constexpr (std::is_same_v<V, Ones>)
      return Math::ones(stage.present[h][0], stage.present[h][1]);
    else
      return Math::entries(stage.value[h][0], stage.value[h][1]);
  }

  /// Gives the chunk that the lane multiplies for the one that it loaded.
  __device__ __forceinline__ typename Math::Chunk mine(const typename Math::Chunk& loaded) const {
    if constexpr (!K::kRowLoads) return loaded;
    constexpr int kWords = sizeof(typename Math::Chunk) / sizeof(std::uint32_t);
    std::uint32_t word[kWords];
    __builtin_memcpy(word, &loaded, sizeof loaded);
#pragma unroll
    for (int i = 0; i < kWords; ++i) word[i] = __shfl_sync(~0u, word[i], row_loader(lane_));
    typename Math::Chunk chunk;
    __builtin_memcpy(&chunk, word, sizeof chunk);
    return chunk;
  }

  __device__ __forceinline__ void multiply(const Stage& stage) {
#pragma unroll
    for (int s = 0; s < K::kSegments; ++s) {
      const typename Math::Fragment f = Math::fragment(mine(stage.dense[s][0]), mine(stage.dense[s][1]));
#pragma unroll
      for (int h = 0; h < K::kHalves; ++h) Math::multiply(sums_[h][s], f, entries(stage, h));
    }
  }

  __device__ __forceinline__ void gather(Acc (&sum)[K::kElements], int h, int s, int r) const {
#pragma unroll
    for (int e = 0; e < K::kElements; ++e) sum[e] = Math::sum_at(sums_[h][s], e, r);
  }

  /// Writes the rows of the current window and goes on to the next.
  __device__ __forceinline__ void close_window() {
#pragma unroll
    for (int h = 0; h < K::kHalves; ++h)
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const std::int32_t row = windows_.row(8 * h + lane_result_row(lane_, r));
        if (row < 0) continue;
        Dense* const to = static_cast<Dense*>(task_.c) + std::int64_t{row} * task_.ldc + feature_;
#pragma unroll
        for (int s = 0; s < K::kSegments; ++s) {
          Acc sum[K::kElements];
          gather(sum, h, s, r);
          store_piece<K::kVector>(to + s * K::kSegmentFeatures, sum, scale_of<Acc>(task_),
                                  left_ - s * K::kSegmentFeatures);
        }
      }
    clear_sums();
    windows_.advance();
    window_end_ = windows_.end();
  }

  /// Writes the sums of a piece to its slot.
  __device__ __forceinline__ void store_partial() const {
    constexpr int kHeight = 8 * K::kHalves;
#pragma unroll
    for (int h = 0; h < K::kHalves; ++h)
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const std::int64_t row = std::int64_t{item_.slot} * kHeight + 8 * h + lane_result_row(lane_, r);
        Acc* const to = static_cast<Acc*>(task_.partials) + row * task_.padded_n + feature_;
#pragma unroll
        for (int s = 0; s < K::kSegments; ++s) {
          RowPiece<Acc, K::kElements> piece;
          gather(piece.e, h, s, r);
          *reinterpret_cast<RowPiece<Acc, K::kElements>*>(to + s * K::kSegmentFeatures) = piece;
        }
      }
  }

  const TileTask& task_;
  const TileItem& item_;
  int lane_;
  typename Source::Lane source_;
  WindowCursor<K::kHalves> windows_;
  std::int32_t window_end_;  ///< tile at which the current window is to be written
  std::int64_t feature_;     ///< first of the lane's
  int left_;                 ///< features from there to n
  int load_left_;            ///< features from the first that it loads to n
  const std::byte* b_;       ///< the features of row 0 that it loads
  const V* values_;
  typename Math::Sums sums_[K::kHalves][K::kSegments];
};

}  // namespace sptile::runtime::cuda
