// A consumer warp of a tall block: owns kSubWindows * 8 rows of the window and kSegments segments of the
// slice.
#pragma once

#include <cstddef>

#include "runtime/cuda/device/pipe.cuh"
#include "runtime/cuda/tall/lanes.hpp"
#include "runtime/cuda/tall/task.cuh"
#include "runtime/cuda/tile/sum_tree.cuh"

namespace sptile::runtime::cuda {

/// How a kernel is compiled.
template <class V, class MathT, int kSubWindowsT, int kSegmentsT, int kWarpsT, int kBlocksT>
struct TallKernel {
  using Value = V;
  using Math = MathT;
  using Dense = typename Math::Dense;
  using Result = typename Math::Result;
  using Acc = typename Math::Acc;
  static constexpr int kSubWindows = kSubWindowsT;
  static constexpr int kSegments = kSegmentsT;
  static constexpr int kWarps = kWarpsT;    ///< most consumer warps of a block
  static constexpr int kBlocks = kBlocksT;  ///< of that size that should fit on a multiprocessor
  static constexpr int kElements = Math::kElements;
  static constexpr int kSegmentFeatures = 8 * kElements;
  static constexpr int kValueBytes = std::is_same_v<V, Ones> ? 0 : static_cast<int>(sizeof(V));
  static_assert(kElements * sizeof(Dense) == 16);
};

/// The sparse operand of a tile as a lane has it.
template <class Math, class V>
struct EntriesOf {
  using type = decltype(Math::entries(V{}, V{}));
};
template <class Math>
struct EntriesOf<Math, Ones> {
  using type = decltype(Math::ones(true, true));
};

template <class K>
class TallConsumer {
  using Math = typename K::Math;
  using V = typename K::Value;
  using Result = typename K::Result;
  using Acc = typename K::Acc;
  using Chunk = typename Math::Chunk;
  static constexpr int kSubWindows = K::kSubWindows;

 public:
  __device__ __forceinline__ TallConsumer(const TallTask& task, const TallShared& shared,
                                          const TallItem& item, int slice, int warp, int lane)
      : task_(task), shared_(shared), item_(item), slice_(slice), warp_(warp), lane_(lane) {
    half_ = tall_half(lane);
    sub_window_ = warp / task.feature_warps * kSubWindows;
    segment_ = warp % task.feature_warps * K::kSegments;
    dense_at_ = static_cast<std::uint32_t>(tall_fragment_at(lane, 0, 0, segment_, task.stage.pitch));
  }

  __device__ __forceinline__ void run() {
    StageCursor cursor;
    bool first_window = true;
    clear_sums();
    for (std::int32_t chunk = item_.chunk; chunk < item_.end_chunk; ++chunk) {
      barrier_wait(shared_.full(cursor.stage), cursor.phase);
      const std::uint32_t stage = shared_.stage(task_, cursor.stage);
      const std::uint32_t record = stage + static_cast<std::uint32_t>(task_.stage.chunk_at);
      const uint4 head = shared_piece(record);
      multiply_chunk(stage, head);
      const bool last = (head.x & kTallLast) != 0;
      std::uint32_t row = 0;
      if (last) {
        row = shared_word(record + 16);
        __threadfence_block();  // it must be there before the stage is given back
      }
      __syncwarp();
      if (lane_ == 0) barrier_arrive(shared_.empty(cursor.stage));
      if (last) {
        const std::int32_t slot = first_window ? item_.head : chunk + 1 == item_.end_chunk ? item_.tail : -1;
        end_window({static_cast<std::int32_t>(row), static_cast<int>(head.w >> 16)}, slot);
        first_window = false;
        clear_sums();
      }
      cursor.advance(task_.stages);
    }
  }

 private:
  /// Rows of the window that ends.
  struct Place {
    std::int32_t row;
    int rows;
  };
  using Sums = typename Math::Sums;

  __device__ __forceinline__ void clear_sums() {
    constexpr int kCount = sizeof(Sums) / sizeof(Acc);
#pragma unroll
    for (int h = 0; h < kSubWindows; ++h)
#pragma unroll
      for (int s = 0; s < K::kSegments; ++s)
#pragma unroll
        for (int i = 0; i < kCount; ++i) (&sums_[h][s][0][0])[i] = Acc{0};
  }

  using TileEntries = typename EntriesOf<Math, V>::type;

  __device__ __forceinline__ TileEntries entries_of(const uint2& bits, std::uint32_t values) const {
    const LanePair pair = tall_pair(bits.x, bits.y, half_);
    if constexpr (K::kValueBytes == 0)
      return Math::ones(pair.present[0], pair.present[1]);
    else
      return Math::entries(shared_element_if<V>(values + pair.index[0] * K::kValueBytes, pair.present[0]),
                           shared_element_if<V>(values + pair.index[1] * K::kValueBytes, pair.present[1]));
  }

  /// Multiplies the tiles of the warp's sub-windows, whose places in the chunk are told. First bitmaps and
  /// offsets are read, then values, then rows of B: reads of the same kind do not wait for each other.
  __device__ __forceinline__ void multiply_chunk(std::uint32_t stage, const uint4& head) {
    const std::uint32_t first_tile = head.x & ~kTallLast;
    // Bitmaps and offsets stand around the ones wanted.
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
      multiply_group(stage + dense_at_ + static_cast<std::uint32_t>(8 * g * task_.stage.pitch), entries[g],
                     mine[g]);
  }

  /// Multiplies the tiles that the warp's sub-windows have in a group.
  __device__ __forceinline__ void multiply_group(std::uint32_t dense,
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
          Math::fragment(load(at), load(at + static_cast<std::uint32_t>(task_.stage.pitch)));
#pragma unroll
      for (int h = 0; h < kSubWindows; ++h)
        if (kSubWindows == 1 || mine[h]) Math::multiply(sums_[h][s], f, entries[h]);
    }
  }

  static __device__ __forceinline__ Chunk load(std::uint32_t at) {
    const uint4 bits = shared_piece(at);
    Chunk chunk;
    __builtin_memcpy(&chunk, &bits, sizeof chunk);
    return chunk;
  }

  /// First feature of a segment that the lane has.
  [[nodiscard]] __device__ __forceinline__ std::int64_t feature(int s) const {
    return std::int64_t{slice_} * task_.slice_segments * K::kSegmentFeatures +
           lane_feature(lane_, segment_ + s, K::kElements);
  }

  /// Visits the rows of the window that the lane holds: f(row in the window, sub-window h, result r).
  template <class F>
  __device__ __forceinline__ void for_each_row(const Place& place, const F& f) {
#pragma unroll
    for (int h = 0; h < kSubWindows; ++h)
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const int row = 8 * (sub_window_ + h) + lane_result_row(lane_, r);
        if (row < place.rows) f(row, h, r);
      }
  }

  /// `slot` of a piece; -1: the window is whole.
  __device__ __forceinline__ void end_window(const Place& place, std::int32_t slot) {
    if (slot >= 0) {
      const TallPiece piece = task_.pieces[slot];
      store_partial(place, slot);
      if (!is_last(piece)) return;
      sum_pieces(place, piece);
    }
    store(place);
  }

  __device__ __forceinline__ void store(const Place& place) {
    for_each_row(place, [&](int row, int h, int r) {
      const std::int32_t from = place.row + row;
      const std::int64_t to_row = task_.row_order != nullptr ? task_.row_order[from] : from;
      Result* const to = static_cast<Result*>(task_.c) + to_row * task_.ldc + feature(0);
      const int left = static_cast<int>(min(task_.n - feature(0), std::int64_t{1} << 30));
#pragma unroll
      for (int s = 0; s < K::kSegments; ++s) {
        Acc sum[K::kElements];
#pragma unroll
        for (int e = 0; e < K::kElements; ++e) sum[e] = Math::sum_at(sums_[h][s], e, r);
        const int skip = s * K::kSegmentFeatures;
        if (task_.whole_pieces)
          store_piece<true>(to + skip, sum, scale_of<Acc>(task_), left - skip);
        else
          store_piece<false>(to + skip, sum, scale_of<Acc>(task_), left - skip);
      }
    });
  }

  using Piece = RowPiece<Acc, K::kElements>;

  /// Partial sums of a row of the window, the lane's elements of its first segment.
  [[nodiscard]] __device__ __forceinline__ Acc* partial(std::int64_t slot, int row) const {
    const std::int64_t features = std::int64_t{task_.slice_segments} * K::kSegmentFeatures;
    const std::int64_t rows = std::int64_t{8 * kSubWindows} * task_.row_warps;
    return static_cast<Acc*>(task_.partials) + ((slot * task_.slices + slice_) * rows + row) * features +
           lane_feature(lane_, segment_, K::kElements);
  }

  __device__ __forceinline__ void store_partial(const Place& place, std::int32_t slot) {
    for_each_row(place, [&](int row, int h, int r) {
      Acc* const to = partial(slot, row);
#pragma unroll
      for (int s = 0; s < K::kSegments; ++s) {
        Piece piece;
#pragma unroll
        for (int e = 0; e < K::kElements; ++e) piece.e[e] = Math::sum_at(sums_[h][s], e, r);
        *reinterpret_cast<Piece*>(to + s * K::kSegmentFeatures) = piece;
      }
    });
  }

  /// Counts the pieces of the warp's part of the window; true for the one that comes last. Which one that is
  /// varies, the order of the additions does not.
  __device__ __forceinline__ bool is_last(const TallPiece& piece) const {
    const std::int64_t warps = task_.row_warps * task_.feature_warps;
    return arrives_last(
        task_.arrived + (std::int64_t{piece.first_slot} * task_.slices + slice_) * warps + warp_, piece.count,
        lane_);
  }

  __device__ __forceinline__ void sum_pieces(const Place& place, const TallPiece& piece_of) {
    clear_sums();
    for (std::int32_t p = 0; p < piece_of.count; ++p)
      for_each_row(place, [&](int row, int h, int r) {
        const Acc* const from = partial(piece_of.first_slot + p, row);
#pragma unroll
        for (int s = 0; s < K::kSegments; ++s) {
          const Piece piece = load_written(reinterpret_cast<const Piece*>(from + s * K::kSegmentFeatures));
#pragma unroll
          for (int e = 0; e < K::kElements; ++e) Math::sum_at(sums_[h][s], e, r) += piece.e[e];
        }
      });
  }

  const TallTask& task_;
  const TallShared& shared_;
  const TallItem& item_;
  int slice_, warp_, lane_;
  int sub_window_;  ///< first of the warp's
  int segment_;     ///< first of the warp's, in the slice
  std::uint32_t dense_at_;
  TallHalf half_;
  Sums sums_[kSubWindows][K::kSegments];
};

}  // namespace sptile::runtime::cuda
