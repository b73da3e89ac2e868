// A consumer warp of a tall block: owns kSubWindows * 8 rows of the window and kSegments segments of the slice.
#pragma once

#include "runtime/cuda/tall_lanes.hpp"
#include "runtime/cuda/tall_pipe.cuh"
#include "runtime/cuda/tall_task.cuh"

namespace sptile::runtime::cuda {

/// How a kernel is compiled.
template <class V, class MathT, int kSubWindowsT, int kSegmentsT, int kWarpsT, int kBlocksT>
struct TallKernel {
  using Value = V;
  using Math = MathT;
  using Dense = typename Math::Dense;
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

template <class K>
class TallConsumer {
  using Math = typename K::Math;
  using V = typename K::Value;
  using Dense = typename K::Dense;
  using Acc = typename K::Acc;
  using Chunk = typename Math::Chunk;
  static constexpr int kSubWindows = K::kSubWindows;

 public:
  __device__ __forceinline__ TallConsumer(const TallTask& task, const TallShared& shared, const TallItem& item,
                                          int slice, int warp, int lane)
      : task_(task), shared_(shared), item_(item), slice_(slice), warp_(warp), lane_(lane) {
    prefix_ = lane_prefix(lane);
    sub_window_ = warp / task.feature_warps * kSubWindows;
    segment_ = warp % task.feature_warps * K::kSegments;
    dense_at_ = tall_fragment_at(lane, 0, 0, segment_, task.stage.pitch);
  }

  __device__ __forceinline__ void run() {
    StageCursor cursor;
    clear_sums();
    for (std::int32_t chunk = item_.chunk; chunk < item_.end_chunk; ++chunk) {
      barrier_wait(shared_.full(cursor.stage), cursor.phase);
      const std::byte* const stage = shared_.stage(task_, cursor.stage);
      const auto* const record = reinterpret_cast<const uint4*>(stage + task_.stage.chunk_at);
      const uint4 head = record[0];
      multiply_chunk(stage, head);
      const bool last = (head.z & kTallLast) != 0;
      uint4 tail{};
      if (last) tail = record[1];
      __syncwarp();
      if (lane_ == 0) barrier_arrive(shared_.empty(cursor.stage));
      if (last) {
        const Place place{static_cast<std::int32_t>(tail.z), static_cast<int>(tail.y >> 16)};
        if (item_.slot < 0)
          store(place);
        else
          store_piece_of_split(place);
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

  __device__ __forceinline__ void multiply_chunk(const std::byte* stage, const uint4& head) {
    const std::uint32_t first_tile = head.z & ~kTallLast;
    const auto* bitmaps = reinterpret_cast<const uint2*>(stage + task_.stage.bitmaps_at) + first_tile % 2;
    const auto* offsets = reinterpret_cast<const std::uint32_t*>(stage + task_.stage.offsets_at) + first_tile % 4;
    const auto* values = reinterpret_cast<const V*>(stage + task_.stage.values_at);
    std::uint32_t first_value = 0;
    if constexpr (K::kValueBytes > 0) first_value = aligned_down(head.w, K::kValueBytes);
    const std::byte* dense = stage + dense_at_;
#pragma unroll
    for (int g = 0; g < kTallChunkGroups; ++g) {
      const std::uint32_t mask = (g < 2 ? head.x : head.y) >> (g % 2 * 16) & 0xffffu;
      const std::uint32_t mine = mask >> sub_window_ & ((1u << kSubWindows) - 1u);
      if (mine != 0) {
        const std::uint32_t tile = count_bits(mask & ((1u << sub_window_) - 1u));
        multiply_group(dense, bitmaps + tile, offsets + tile, values, first_value, mine);
      }
      const std::uint32_t tiles = count_bits(mask);
      bitmaps += tiles;
      offsets += tiles;
      dense += 8 * task_.stage.pitch;
    }
  }

  __device__ __forceinline__ auto read_entries(const uint2* bitmap, const std::uint32_t* offset, const V* values,
                                               std::uint32_t first_value) const {
    const uint2 bits = *bitmap;
    const LanePair pair = row_major_pair(bits.x, bits.y, prefix_);
    if constexpr (K::kValueBytes == 0) {
      return Math::ones(pair.present[0], pair.present[1]);
    } else {
      const V* const from = values + (*offset - first_value);
      return Math::entries(pair.present[0] ? from[pair.index[0]] : V{},
                           pair.present[1] ? from[pair.index[1]] : V{});
    }
  }

  /// Multiplies the tiles that the warp's sub-windows have in a group; bit h of `mine`: sub-window h has one.
  __device__ __forceinline__ void multiply_group(const std::byte* dense, const uint2* bitmaps,
                                                 const std::uint32_t* offsets, const V* values,
                                                 std::uint32_t first_value, std::uint32_t mine) {
    using TileEntries = decltype(read_entries(bitmaps, offsets, values, first_value));
    TileEntries entries[kSubWindows];
#pragma unroll
    for (int h = 0; h < kSubWindows; ++h)
      if ((mine >> h & 1u) != 0)
        entries[h] = read_entries(bitmaps + (h > 0 ? mine & 1u : 0u), offsets + (h > 0 ? mine & 1u : 0u), values,
                                  first_value);
#pragma unroll
    for (int s = 0; s < K::kSegments; ++s) {
      const auto* const row = reinterpret_cast<const Chunk*>(dense + s * kTallSegmentBytes);
      const auto* const next_row =
          reinterpret_cast<const Chunk*>(dense + task_.stage.pitch + s * kTallSegmentBytes);
      const typename Math::Fragment f = Math::fragment(load(row), load(next_row));
#pragma unroll
      for (int h = 0; h < kSubWindows; ++h)
        if (kSubWindows == 1 || (mine >> h & 1u) != 0) Math::multiply(sums_[h][s], f, entries[h]);
    }
  }

  static __device__ __forceinline__ Chunk load(const Chunk* from) {
    const uint4 bits = *reinterpret_cast<const uint4*>(from);
    Chunk chunk;
    __builtin_memcpy(&chunk, &bits, sizeof chunk);
    return chunk;
  }

  /// First feature of a segment that the lane has.
  [[nodiscard]] __device__ __forceinline__ std::int64_t feature(int s) const {
    return std::int64_t{slice_} * task_.slice_segments * K::kSegmentFeatures +
           lane_feature(lane_, segment_ + s, K::kElements);
  }

  __device__ __forceinline__ void write(std::int32_t row, const Acc (&sum)[K::kSegments][K::kElements]) const {
    const std::int64_t to_row = task_.row_order != nullptr ? task_.row_order[row] : row;
#pragma unroll
    for (int s = 0; s < K::kSegments; ++s) {
      Dense* const to = static_cast<Dense*>(task_.c) + to_row * task_.ldc + feature(s);
      const int left = static_cast<int>(min(task_.n - feature(s), std::int64_t{K::kElements}));
      if (task_.whole_pieces)
        store_piece<true>(to, sum[s], scale_of<Acc>(task_), left);
      else
        store_piece<false>(to, sum[s], scale_of<Acc>(task_), left);
    }
  }

  /// Visits the rows of the window that the lane holds: f(row in the window, sub-window h, result r).
  template <class F>
  __device__ __forceinline__ void for_each_row(const Place& place, const F& f) const {
#pragma unroll
    for (int h = 0; h < kSubWindows; ++h)
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const int row = 8 * (sub_window_ + h) + lane_result_row(lane_, r);
        if (row < place.rows) f(row, h, r);
      }
  }

  __device__ __forceinline__ void gather(Acc (&sum)[K::kSegments][K::kElements], int h, int r) const {
#pragma unroll
    for (int s = 0; s < K::kSegments; ++s)
#pragma unroll
      for (int e = 0; e < K::kElements; ++e) sum[s][e] = Math::sum_at(sums_[h][s], e, r);
  }

  __device__ __forceinline__ void store(const Place& place) const {
    for_each_row(place, [&](int row, int h, int r) {
      Acc sum[K::kSegments][K::kElements];
      gather(sum, h, r);
      write(place.row + row, sum);
    });
  }

  using Piece = RowPiece<Acc, K::kElements>;

  /// Partial sums of a row of the window and a segment.
  [[nodiscard]] __device__ __forceinline__ Piece* partial(std::int64_t slot, int row, int s) const {
    const std::int64_t features = std::int64_t{task_.slice_segments} * K::kSegmentFeatures;
    const std::int64_t rows = std::int64_t{8 * kSubWindows} * task_.row_warps;
    return reinterpret_cast<Piece*>(static_cast<Acc*>(task_.partials) +
                                    ((slot * task_.slices + slice_) * rows + row) * features +
                                    lane_feature(lane_, segment_ + s, K::kElements));
  }

  /// Stores the sums of a piece; the warp that comes last adds up the pieces of its part of the window. Which
  /// one that is varies, the order of the additions does not.
  __device__ __forceinline__ void store_piece_of_split(const Place& place) const {
    for_each_row(place, [&](int row, int h, int r) {
      Acc sum[K::kSegments][K::kElements];
      gather(sum, h, r);
#pragma unroll
      for (int s = 0; s < K::kSegments; ++s) {
        Piece piece;
#pragma unroll
        for (int e = 0; e < K::kElements; ++e) piece.e[e] = sum[s][e];
        *partial(item_.slot, row, s) = piece;
      }
    });
    const TallSplit split = task_.splits[item_.split];
    unsigned* const arrived =
        task_.arrived + (std::int64_t{item_.split} * task_.slices + slice_) * task_.row_warps * task_.feature_warps +
        warp_;
    __threadfence();
    __syncwarp();
    unsigned before = 0;
    if (lane_ == 0) before = atomicAdd(arrived, 1u);
    before = __shfl_sync(~0u, before, 0);
    if (before + 1 != static_cast<unsigned>(split.pieces)) return;
    __threadfence();
    for_each_row(place, [&](int row, int, int) {
      Acc sum[K::kSegments][K::kElements] = {};
      for (std::int32_t p = 0; p < split.pieces; ++p)
#pragma unroll
        for (int s = 0; s < K::kSegments; ++s) {
          const Piece piece = load_partial(partial(split.first_slot + p, row, s));
#pragma unroll
          for (int e = 0; e < K::kElements; ++e) sum[s][e] += piece.e[e];
        }
      write(place.row + row, sum);
    });
    if (lane_ == 0) *arrived = 0;
  }

  /// Past the first cache, which may hold what was there before.
  static __device__ __forceinline__ Piece load_partial(const Piece* from) {
    Piece piece;
#pragma unroll
    for (int i = 0; i < static_cast<int>(sizeof(Piece) / 16); ++i) {
      const uint4 bits = __ldcg(reinterpret_cast<const uint4*>(from) + i);
      __builtin_memcpy(reinterpret_cast<std::byte*>(&piece) + 16 * i, &bits, sizeof bits);
    }
    return piece;
  }

  const TallTask& task_;
  const TallShared& shared_;
  const TallItem& item_;
  int slice_, warp_, lane_;
  int sub_window_;  ///< first of the warp's
  int segment_;     ///< first of the warp's, in the slice
  int dense_at_;
  LanePrefix prefix_;
  Sums sums_[kSubWindows][K::kSegments];
};

}  // namespace sptile::runtime::cuda
