// Producer warps of a tall block, which copy chunks to the stages.
#pragma once

#include "runtime/cuda/collective/copy.cuh"
#include "runtime/cuda/collective/mma.cuh"
#include "runtime/cuda/device/ptx.cuh"
#include "runtime/cuda/families/tall/lanes.hpp"
#include "runtime/cuda/families/tall/task.cuh"

namespace sptile::runtime::cuda {

/// Descriptors of chunks are loaded 32 at a time, one per lane, and column ids kAhead chunks ahead, one per
/// lane, so that addresses are known in time. kDense and kValue are the sizes of elements (kValue 0: a
/// pattern).
///
/// The producers of a block share each chunk: each copies some of its groups, and some of the arrays of the
/// format. With kPlaces, nonzeros have positions instead of bitmaps, and producers copy entire chunks in
/// turns. kSliceSegments is 0 if it varies.
template <int kDense, int kValue, bool kPlaces, int kSliceSegments>
class TallProducer {
 public:
  __device__ __forceinline__ TallProducer(const TallTask& task, const TallShared& shared,
                                          const TallItem& item, int slice, int producer, int lane)
      : task_(task), shared_(shared), item_(item), producer_(producer), lane_(lane) {
    const std::int64_t slice_bytes = std::int64_t{kTallSegmentBytes} * task.slice_segments;
    const std::int64_t offset = slice * slice_bytes;
    row_bytes_ = static_cast<int>(min(task.n * kDense - offset, slice_bytes));
    b_ = task.b + offset;
    const int lanes = 8 * task.slice_segments;  // lanes that copy a row
    byte_ = lane % lanes * 16;
    row_ = lane / lanes;
    piece_ = b_ + byte_;
  }

  __device__ __forceinline__ void run() {
    if (task_.copy == TallCopy::elements)
      produce<0>();
    else if constexpr (kSliceSegments > 0)
      produce<4 / kSliceSegments>();
    else if (task_.slice_segments == 4)
      produce<1>();
    else if (task_.slice_segments == 2)
      produce<2>();
    else
      produce<4>();
  }

 private:
  static constexpr int kAhead = kTallPolicy.ids_ahead;
  /// Rows of B are operands of wgmma, which multiplies two groups at a time.
  static constexpr bool kSwizzled = kPlaces && kDense == 2;
  static constexpr int kTurns = kPlaces ? kTallProducers : 1;  ///< distance of a producer's chunks
  static constexpr int kSharers = kTallProducers / kTurns;     ///< producers per chunk
  /// unrolled groups of a chunk
  static constexpr int kUnrolled = kSharers > 1 ? kTallChunkGroups / kSharers : 1;

  /// Kernels with dense tiles multiply patterns, too.
  [[nodiscard]] __device__ __forceinline__ bool has_values() const {
    return !kPlaces || task_.values != nullptr;
  }

  [[nodiscard]] __device__ __forceinline__ std::uint32_t pitch() const {
    return kPlaces ? tall_pitch(kWarpgroup) : static_cast<std::uint32_t>(task_.stage.pitch);
  }

  /// Descriptor of a chunk.
  struct Head {
    std::uint32_t tile, value, values;
    std::int32_t group, groups, tiles;
  };

  /// Copies the chunks of the item, kTogether rows of B at once; 0: element by element.
  template <int kTogether>
  __device__ __forceinline__ void produce() {
    StageCursor cursor;
    if (kTurns > 1) cursor.advance(task_.stages, producer_);
    const std::int32_t first = item_.chunk + (kTurns > 1 ? producer_ : 0);
    heads_ = read_head(first + kTurns * lane_);
    next_heads_ = read_head(first + kTurns * (kWarpSize + lane_));
    std::int32_t column[kAhead];
#pragma unroll
    for (int a = 0; a < kAhead; ++a) column[a] = read_column(a);
    int at = 0;  // index of the chunk in heads_
    for (std::int32_t chunk = first; chunk < item_.end_chunk; chunk += kTurns) {
      const Head head = pick(heads_, at);
      const std::int32_t far_column = read_column(at + kAhead);
      shared_.wait_empty(cursor);
      bring<kTogether>(head, chunk, column[0], cursor.stage);
      cursor.advance(task_.stages, kTurns);
#pragma unroll
      for (int a = 1; a < kAhead; ++a) column[a - 1] = column[a];
      column[kAhead - 1] = far_column;
      if (++at == kWarpSize) {
        at = 0;
        heads_ = next_heads_;
        next_heads_ = read_head(chunk + kTurns * (1 + kWarpSize + lane_));
      }
    }
  }

  __device__ __forceinline__ Head read_head(std::int32_t chunk) const {
    if (chunk >= item_.end_chunk) return {};
    const uint4 x = __ldg(reinterpret_cast<const uint4*>(task_.chunks + chunk));
    const uint4 y = __ldg(reinterpret_cast<const uint4*>(task_.chunks + chunk) + 1);
    return {x.x & ~kTallLast,
            x.y,
            y.y,
            static_cast<std::int32_t>(x.z),
            static_cast<std::int32_t>(x.w & 0xffu),
            static_cast<std::int32_t>(x.w >> 8 & 0xffu)};
  }
  static __device__ __forceinline__ Head pick(const Head& heads, int lane) {
    return {__shfl_sync(~0u, heads.tile, lane),   __shfl_sync(~0u, heads.value, lane),
            __shfl_sync(~0u, heads.values, lane), __shfl_sync(~0u, heads.group, lane),
            __shfl_sync(~0u, heads.groups, lane), __shfl_sync(~0u, heads.tiles, lane)};
  }
  /// Returns the lane's column of a chunk at most kWarpSize + kAhead after the first of heads_; 0 if it has
  /// none.
  __device__ __forceinline__ std::int32_t read_column(int at) const {
    const bool near = at < kWarpSize;
    const std::int32_t group = __shfl_sync(~0u, near ? heads_.group : next_heads_.group, at % kWarpSize);
    const std::int32_t groups = __shfl_sync(~0u, near ? heads_.groups : next_heads_.groups, at % kWarpSize);
    if (lane_ >= 8 * copied(groups)) return 0;
    return __ldg(task_.col_id + 8 * std::int64_t{group} + (lane_ < 8 * groups ? lane_ : lane_ - 8));
  }

  /// Returns the groups of a chunk that are copied: the last one twice if it has no partner. Its tiles are
  /// zero then, and the products with them finite if those with the other copy are.
  static __device__ __forceinline__ int copied(int groups) {
    return kSwizzled ? groups + groups % 2 : groups;
  }

  /// Copies the 16-byte pieces with the values of a chunk. Returns whether the lane stored values
  /// synchronously.
  __device__ __forceinline__ bool bring_values(const Head& head, std::uint32_t stage) const {
    const std::uint32_t pieces = pieces_of(head.value, head.values, kValue);
    const std::uint64_t first = std::uint64_t{aligned_down(head.value, kValue)} * kValue;
    const std::byte* const from = static_cast<const std::byte*>(task_.values) + first;
    const std::int64_t there = task_.value_bytes - static_cast<std::int64_t>(first);
    const std::uint32_t to = stage + static_cast<std::uint32_t>(task_.stage.values_at);
    bool stored = false;
    for (auto i = static_cast<std::uint32_t>(lane_); i < pieces; i += kWarpSize)
      if (const std::int64_t left = there - 16 * i; left >= 16)
        copy_16(to + 16 * i, from + 16 * i);
      else
        stored = bring_rest(to + 16 * i, from + 16 * i, static_cast<std::uint32_t>(left));
    return stored;
  }

  /// Copies the values of the array's last piece, less than 16 bytes. Returns whether the lane stored them
  /// synchronously.
  static __device__ __forceinline__ bool bring_rest(std::uint32_t to, const std::byte* from,
                                                    std::uint32_t bytes) {
#pragma unroll 1
    for (std::uint32_t at = 0; at < bytes; at += kValue) copy_number<kValue>(to + at, from + at);
    return kValue == 2;
  }

  /// Copies the values of a chunk element by element, to the same addresses.
  __device__ __forceinline__ void bring_single_values(const Head& head, std::uint32_t stage) const {
    const std::byte* const from =
        static_cast<const std::byte*>(task_.values) + std::uint64_t{head.value} * kValue;
    const std::uint32_t to = stage + static_cast<std::uint32_t>(task_.stage.values_at) +
                             (head.value - aligned_down(head.value, kValue)) * kValue;
    for (auto i = static_cast<std::uint32_t>(lane_); i < head.values; i += kWarpSize)
      copy_number<kValue>(to + i * kValue, from + i * kValue);
  }

  /// Copies bitmaps, value offsets and the descriptor of a chunk, one piece per lane.
  __device__ __forceinline__ void bring_tiles(const Head& head, std::int32_t chunk,
                                              std::uint32_t stage) const {
    const auto tiles = static_cast<std::uint32_t>(head.tiles);
    const std::uint32_t bitmaps = pieces_of(head.tile, tiles, 8);
    const std::uint32_t offsets = bitmaps + pieces_of(head.tile, tiles, 4);
    constexpr auto kChunkPieces = static_cast<std::uint32_t>(sizeof(TallChunk) / 16);
    for (auto i = static_cast<std::uint32_t>(lane_); i < offsets + kChunkPieces; i += kWarpSize) {
      const void* from = task_.bitmap + aligned_down(head.tile, 8);
      int to = task_.stage.bitmaps_at;
      std::uint32_t piece = i;
      if (i >= offsets) {
        from = task_.chunks + chunk;
        to = task_.stage.chunk_at;
        piece -= offsets;
      } else if (i >= bitmaps) {
        from = task_.value_offset + aligned_down(head.tile, 4);
        to = task_.stage.offsets_at;
        piece -= bitmaps;
      }
      copy_16(stage + static_cast<std::uint32_t>(to) + 16 * piece,
              static_cast<const std::byte*>(from) + 16 * piece);
    }
  }

  /// Copies the descriptor of a chunk, positions of nonzeros, and values if they are aligned: one lane, in
  /// bulk. Returns whether it stored values synchronously.
  __device__ __forceinline__ bool bring_entries(const Head& head, std::int32_t chunk, std::uint32_t stage,
                                                std::uint32_t full) const {
    if (lane_ != 0) return false;
    const std::uint32_t places = 16 * pieces_of(head.value, head.values, 2);
    const std::byte* values = nullptr;
    std::uint32_t value_bytes = 0,
                  rest = 0;  // in full pieces, and of an incomplete piece at the end of the array
    if constexpr (kValue > 0)
      if (task_.copy == TallCopy::pieces && has_values()) {
        const std::uint64_t first = std::uint64_t{aligned_down(head.value, kValue)} * kValue;
        values = static_cast<const std::byte*>(task_.values) + first;
        value_bytes = 16 * pieces_of(head.value, head.values, kValue);
        if (first + value_bytes > static_cast<std::uint64_t>(task_.value_bytes)) {
          value_bytes -= 16;
          rest =
              static_cast<std::uint32_t>(static_cast<std::uint64_t>(task_.value_bytes) - first) - value_bytes;
        }
      }
    const auto chunk_bytes = static_cast<std::uint32_t>(sizeof(TallChunk));
    barrier_arrive_expect(full, chunk_bytes + places + value_bytes);
    copy_bulk(stage + static_cast<std::uint32_t>(task_.stage.chunk_at), task_.chunks + chunk, chunk_bytes,
              full);
    if (places > 0)
      copy_bulk(stage + static_cast<std::uint32_t>(task_.stage.places_at),
                task_.places + aligned_down(head.value, 2), places, full);
    const std::uint32_t to = stage + static_cast<std::uint32_t>(task_.stage.values_at);
    if (value_bytes > 0) copy_bulk(to, values, value_bytes, full);
    if constexpr (kValue > 0)
      if (rest > 0) return bring_rest(to + value_bytes, values + value_bytes, rest);
    return false;
  }

  template <int kTogether>
  __device__ __forceinline__ void bring(const Head& head, std::int32_t chunk, std::int32_t column,
                                        int stage_number) const {
    const std::uint32_t stage = shared_.stage(task_, stage_number);
    const std::uint32_t full = shared_.full(stage_number);
    const int sharer = kSharers > 1 ? producer_ : 0;
    bool stored = false;
    if constexpr (kPlaces)
      stored = bring_entries(head, chunk, stage, full);
    else if (sharer == 0)
      bring_tiles(head, chunk, stage);
    if (sharer == kSharers - 1) {
      if constexpr (kValue > 0 && kTogether == 0) {
        if (has_values()) bring_single_values(head, stage);
      } else if constexpr (kValue > 0 && !kPlaces)  // with kPlaces they are copied in bulk
        stored = bring_values(head, stage);
    }
#pragma unroll kUnrolled
    for (int group = sharer; group < copied(head.groups); group += kSharers) {
      if constexpr (kTogether > 0)
        bring_pieces<kTogether>(column, group, stage);
      else
        bring_elements(column, group, stage);
    }
    const bool cleared = kSwizzled && head.groups == 0;
    if (cleared) clear_pair(stage);
    // Elements of 2 bytes are copied synchronously.
    if (((kDense == 2 || kValue == 2) && kTogether == 0) || (kValue == 2 && stored) || cleared) {
      copy_wait_all();
      barrier_arrive(full);
    } else {
      barrier_arrive_copied(full);
    }
  }

  /// Clears the rows of two groups. A chunk without groups is multiplied like others.
  __device__ __forceinline__ void clear_pair(std::uint32_t stage) const {
    const auto bytes = static_cast<std::uint32_t>(2 * kSwizzledBytes * task_.slice_segments);
#pragma unroll 1
    for (auto at = static_cast<std::uint32_t>(16 * lane_); at < bytes; at += 16 * kWarpSize)
      store_piece_16(stage + at, {0, 0, 0, 0});
  }

  /// Returns the byte offset of the row of B of the column that a lane holds.
  template <class Bytes>
  [[nodiscard]] static __device__ __forceinline__ std::uint64_t offset_of(std::int32_t column, int lane,
                                                                          Bytes ldb_bytes) {
    return std::uint64_t{static_cast<std::uint32_t>(__shfl_sync(~0u, column, lane))} * ldb_bytes;
  }

  /// Copies the rows of a group, 16 bytes per lane and kTogether rows at once. All addresses are computed
  /// before the first copy.
  template <int kTogether>
  __device__ __forceinline__ void bring_pieces(std::int32_t column, int group, std::uint32_t stage) const {
    constexpr int kSteps = 8 / kTogether;
    const auto ldb =
        static_cast<std::uint32_t>(task_.ldb_bytes);  // 32 bits, so that the product takes one instruction
    std::uint64_t from[kSteps];
#pragma unroll
    for (int s = 0; s < kSteps; ++s) from[s] = offset_of(column, 8 * group + s * kTogether + row_, ldb);
    if (byte_ >= row_bytes_) return;
    if constexpr (kSwizzled) {
      // Blocks are aligned, and the numbers of rows have no common bits: sums are exclusive ors.
      const std::uint32_t to =
          stage + static_cast<std::uint32_t>(tall_swizzled_at(8 * group + row_, byte_ / 16, kSliceSegments));
#pragma unroll
      for (int s = 0; s < kSteps; ++s)
        copy_16(to ^ static_cast<std::uint32_t>(tall_swizzled_at(s * kTogether, 0, 1)), piece_ + from[s]);
    } else {
      const std::uint32_t to =
          stage + static_cast<std::uint32_t>(8 * group + row_) * pitch() + static_cast<std::uint32_t>(byte_);
#pragma unroll
      for (int s = 0; s < kSteps; ++s)
        copy_16(to + static_cast<std::uint32_t>(s * kTogether) * pitch(), piece_ + from[s]);
    }
  }

  /// Returns the byte offset of an element of a row of B in the stage.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t element_at(int row, int element) const {
    const int byte = element * kDense;
    if constexpr (kSwizzled)
      return static_cast<std::uint32_t>(tall_swizzled_at(row, byte / 16, kSliceSegments) + byte % 16);
    else
      return static_cast<std::uint32_t>(row) * pitch() + static_cast<std::uint32_t>(byte);
  }

  /// Copies the rows of a group element by element.
  __device__ __forceinline__ void bring_elements(std::int32_t column, int group, std::uint32_t stage) const {
    const int elements = row_bytes_ / kDense;
    for (int row = 8 * group; row < 8 * group + 8; ++row) {
      const std::byte* const from = b_ + offset_of(column, row, static_cast<std::uint64_t>(task_.ldb_bytes));
      for (int e = lane_; e < elements; e += kWarpSize)
        copy_number<kDense>(stage + element_at(row, e), from + e * kDense);
    }
  }

  const TallTask& task_;
  const TallShared& shared_;
  const TallItem& item_;
  int producer_, lane_;
  const std::byte* b_;       ///< the slice of row 0
  const std::byte* piece_;   ///< the lane's 16 bytes of it
  int row_bytes_;            ///< bytes of a row of the slice
  int byte_, row_;           ///< position of the 16 bytes that the lane copies
  Head heads_, next_heads_;  ///< heads of 32 chunks, and of the next 32
};

}  // namespace sptile::runtime::cuda
