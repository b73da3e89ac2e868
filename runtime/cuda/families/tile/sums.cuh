// Sums of an item: storing the rows of windows that end, and reducing windows that are split. All skeletons
// share it.
#pragma once

#include <cstdint>

#include "runtime/cuda/collective/copy.cuh"
#include "runtime/cuda/collective/split.cuh"
#include "runtime/cuda/device/ptx.cuh"
#include "runtime/cuda/families/tile/window_cursor.cuh"

namespace sptile::runtime::cuda {

/// Store of rows of C that one warp owns.
struct TileStore {
  template <bool kVector, class Result, class Acc, int kElements>
  static __device__ __forceinline__ void write(const TileItem& /*item*/, Result* to,
                                               const Acc (&sum)[kElements], const Scale<Acc>& scale,
                                               int left) {
    store_piece<kVector>(to, sum, scale, left);
  }
};

/// Policy of the kernels that multiply tiles of a source. Kernels are compiled once for all devices.
template <class Source, class Math>
inline constexpr TilePolicy kTilePolicy = tile_policy_for(80, kDTypeOf<typename Math::Dense>,
                                                          8 * Source::kHalves);

/// Compile-time parameters that all skeletons share: tile source, value type, precision, segments of features
/// per warp, and whether rows are accessed in vectors.
template <class SourceT, class V, class MathT, int kSegmentsT, bool kVectorT>
struct TileShape {
  using Source = SourceT;
  using Value = V;
  using Math = MathT;
  using Dense = typename Math::Dense;
  using Result = typename Math::Result;
  using Acc = typename Math::Acc;
  static constexpr int kSegments = kSegmentsT;
  static constexpr bool kVector = kVectorT;
  static constexpr int kHalves = Source::kHalves;
  static constexpr int kElements = Math::kElements;
  static constexpr int kSegmentFeatures = 8 * kElements;
  static constexpr int kFeatures = kSegments * kSegmentFeatures;
  static constexpr bool kPattern = std::is_same_v<V, Ones>;
  static constexpr TilePolicy kPolicy = kTilePolicy<Source, Math>;
  using Store = TileStore;
  static constexpr bool kShortRows = kHalves == 1;  ///< some formats of the source have rows in classes
  static constexpr bool kPieces = true;             ///< windows may be split
  /// Bytes of a row of sums in shared memory; 16 bytes of padding against bank conflicts.
  static constexpr int kSumRowBytes = kFeatures * static_cast<int>(sizeof(Acc)) + 16;
  static constexpr int kSumBytes = 8 * kHalves * kSumRowBytes;
};

template <class K>
class TileSums {
  using Math = typename K::Math;
  using Result = typename K::Result;
  using Acc = typename K::Acc;
  using Piece = Vec<Acc, K::kElements>;

 public:  // for merge_tree
  __device__ __forceinline__ void clear() {
    constexpr int kCount = sizeof(typename Math::Sums) / sizeof(Acc);
#pragma unroll
    for (int h = 0; h < K::kHalves; ++h)
#pragma unroll
      for (int s = 0; s < K::kSegments; ++s)
#pragma unroll
        for (int i = 0; i < kCount; ++i) (&sums_[h][s][0][0])[i] = Acc{0};
  }

  __device__ __forceinline__ void store_partial(std::int32_t slot) const {
    for_each_partial(slot, [&](Piece* to, int h, int s, int r) {
      Piece piece;
      gather(piece.e, h, s, r);
      store_vector<Cache::l2>(to, piece);
    });
  }

  /// Adds the partial sums of a slot, which another warp has stored.
  __device__ __forceinline__ void add_partial(std::int32_t slot) {
    for_each_partial(slot, [&](const Piece* from, int h, int s, int r) {
      const Piece piece = load_vector<Piece, Cache::l2>(from);
#pragma unroll
      for (int e = 0; e < K::kElements; ++e) Math::sum_at(sums_[h][s], e, r) += piece.e[e];
    });
  }

 protected:
  __device__ __forceinline__ TileSums(const TileTask& task, const TileItem& item, int slice, int lane,
                                      std::uint32_t shared)
      : task_(task),
        item_(item),
        lane_(lane),
        shared_(shared),
        slice_(slice),
        windows_(task, item.window_begin, item.window_end, lane) {
    feature_ = std::int64_t{slice} * K::kFeatures + lane_feature(lane, 0, K::kElements);
    left_ = static_cast<int>(min(task.n - feature_, std::int64_t{K::kFeatures}));
    window_end_ = item.slot < 0 ? windows_.end() : -1;  // segments of a split window have no end
    clear();
  }

  /// Stores the windows that end before a tile. Called before the tile is multiplied.
  __device__ __forceinline__ void end_windows(std::int32_t tile) {
    while (tile == window_end_) close_window();
  }

  /// Stores what is left after the last tile.
  __device__ __forceinline__ void finish() {
    if constexpr (K::kPieces)
      if (item_.slot >= 0) return finish_piece();
    while (!windows_.done()) close_window();
  }

  const TileTask& task_;
  const TileItem& item_;
  int lane_;
  std::uint32_t shared_;  ///< address of the warp's part of shared memory
  typename Math::Sums sums_[K::kHalves][K::kSegments];

 private:
  __device__ __forceinline__ void gather(Acc (&sum)[K::kElements], int h, int s, int r) const {
#pragma unroll
    for (int e = 0; e < K::kElements; ++e) sum[e] = Math::sum_at(sums_[h][s], e, r);
  }

  /// Stores the rows of the current window and advances to the next.
  __device__ __forceinline__ void close_window() {
#pragma unroll
    for (int h = 0; h < K::kHalves; ++h)
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const std::int32_t row = windows_.row(8 * h + lane_result_row(lane_, r));
        if (row < 0) continue;
        Result* const to = static_cast<Result*>(task_.c) + std::int64_t{row} * task_.ldc + feature_;
#pragma unroll
        for (int s = 0; s < K::kSegments; ++s) {
          Acc sum[K::kElements];
          gather(sum, h, s, r);
          K::Store::template write<K::kVector>(item_, to + s * K::kSegmentFeatures, sum, scale_of<Acc>(task_),
                                               left_ - s * K::kSegmentFeatures);
        }
      }
    clear();
    windows_.advance();
    window_end_ = windows_.end();
  }

  /// Calls f(row in the window, h, s, r) for the sums of the lane.
  template <class F>
  __device__ __forceinline__ void for_each_piece(const F& f) const {
#pragma unroll
    for (int h = 0; h < K::kHalves; ++h)
#pragma unroll
      for (int r = 0; r < 2; ++r)
#pragma unroll
        for (int s = 0; s < K::kSegments; ++s) f(8 * h + lane_result_row(lane_, r), h, s, r);
  }

  /// Calls f(elements in the slot, h, s, r) for the sums of the lane.
  template <class F>
  __device__ __forceinline__ void for_each_partial(std::int32_t slot, const F& f) const {
    constexpr int kHeight = 8 * K::kHalves;
    for_each_piece([&](int row, int h, int s, int r) {
      Acc* const at = static_cast<Acc*>(task_.partials) +
                      (std::int64_t{slot} * kHeight + row) * task_.padded_n + feature_;
      f(reinterpret_cast<Piece*>(at + s * K::kSegmentFeatures), h, s, r);
    });
  }

  /// Adds the sums of the block's warps in ascending order. Returns true to the first warp, which then has
  /// the total.
  __device__ __forceinline__ bool add_team() {
    constexpr int kWords = static_cast<int>(sizeof(Piece) / 16);
    const auto at = [&](std::uint32_t base, int row, int s) {
      return base + static_cast<std::uint32_t>(row * K::kSumRowBytes +
                                               lane_feature(lane_, s, K::kElements) * int{sizeof(Acc)});
    };
    const unsigned warp = threadIdx.x / kWarpSize, warps = blockDim.x / kWarpSize;
    copy_wait<0>();  // sums overwrite the stages
    __syncwarp();
    if (warp != 0)
      for_each_piece([&](int row, int h, int s, int r) {
        Piece piece;
        gather(piece.e, h, s, r);
        uint4 words[kWords];
        __builtin_memcpy(words, &piece, sizeof piece);
#pragma unroll
        for (int i = 0; i < kWords; ++i) store_piece_16(at(shared_, row, s) + 16 * i, words[i]);
      });
    __syncthreads();
    if (warp != 0) return false;
#pragma unroll 1
    for (unsigned w = 1; w < warps; ++w)
      for_each_piece([&](int row, int h, int s, int r) {
        uint4 words[kWords];
#pragma unroll
        for (int i = 0; i < kWords; ++i)
          words[i] = shared_piece(at(shared_ + w * task_.shared_bytes, row, s) + 16 * i);
        Piece piece;
        __builtin_memcpy(&piece, words, sizeof piece);
#pragma unroll
        for (int e = 0; e < K::kElements; ++e) Math::sum_at(sums_[h][s], e, r) += piece.e[e];
      });
    return true;
  }

  /// Reduces the sums of a segment of a split window, and stores the window if the warp is the last.
  __device__ __forceinline__ void finish_piece() {
    constexpr int kLoads = K::kHalves * 2 * K::kSegments * static_cast<int>(sizeof(Piece) / 16);
    constexpr int kTogether = kLoads < 16 ? 16 / kLoads : 1;  // loads of partial sums in flight
    if (task_.teams > 0 && !add_team()) return;
    const SplitWindow split = task_.splits[item_.split];
    unsigned* const arrived = task_.arrived + std::int64_t{split.first_counter} * task_.slices + slice_;
    const SumTree tree = {split.first_slot, split.count, item_.slot - split.first_slot, arrived,
                          task_.slices};
    if (split.count == 1 || merge_tree<kSumGroup, kTogether>(*this, tree, lane_)) close_window();
  }

  int slice_;
  WindowCursor<K::kHalves> windows_;
  std::int32_t window_end_;  ///< tile at which the current window ends
  std::int64_t feature_;     ///< first feature of the lane
  int left_;                 ///< features from there to n
};

}  // namespace sptile::runtime::cuda
