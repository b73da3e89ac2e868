// The producer warp of a tall block: brings chunk after chunk to the stages, as far ahead as there are
// stages.
#pragma once

#include "runtime/cuda/tall_lanes.hpp"
#include "runtime/cuda/tall_pipe.cuh"
#include "runtime/cuda/tall_task.cuh"

namespace sptile::runtime::cuda {

/// Chunks come 32 at a time, one a lane, and column ids one chunk ahead, one a lane: reading where to read is
/// never waited for. kDense and kValue are the sizes of elements (kValue 0: a pattern).
template <int kDense, int kValue>
class TallProducer {
 public:
  __device__ __forceinline__ TallProducer(const TallTask& task, const TallShared& shared,
                                          const TallItem& item, int slice, int lane)
      : task_(task), shared_(shared), item_(item), lane_(lane) {
    const std::int64_t slice_bytes = std::int64_t{kTallSegmentBytes} * task.slice_segments;
    const std::int64_t offset = slice * slice_bytes;
    b_ = task.b + offset;
    row_bytes_ = static_cast<int>(min(task.n * kDense - offset, slice_bytes));
  }

  __device__ __forceinline__ void run() {
    StageCursor cursor;
    Head heads = read_head(item_.chunk + lane_), next_heads = read_head(item_.chunk + kWarp + lane_);
    Head head = pick(heads, 0);
    std::int32_t column = read_column(head);
    for (std::int32_t chunk = item_.chunk; chunk < item_.end_chunk; ++chunk) {
      const int next = (chunk + 1 - item_.chunk) % kWarp;
      if (next == 0) {
        heads = next_heads;
        next_heads = read_head(chunk + 1 + kWarp + lane_);
      }
      const Head next_head = pick(heads, next);  // of nothing behind the last chunk
      const std::int32_t next_column = read_column(next_head);
      barrier_wait(shared_.empty(cursor.stage), cursor.phase ^ 1u);
      bring(head, chunk, column, cursor.stage);
      cursor.advance(task_.stages);
      head = next_head;
      column = next_column;
    }
  }

 private:
  /// What the producer needs of a chunk.
  struct Head {
    std::uint32_t tile, value, values;
    std::int32_t group, groups, tiles;
  };

  __device__ __forceinline__ Head read_head(std::int32_t chunk) const {
    if (chunk >= item_.end_chunk) return {};
    const uint4 x = __ldg(reinterpret_cast<const uint4*>(task_.chunks + chunk));
    const uint4 y = __ldg(reinterpret_cast<const uint4*>(task_.chunks + chunk) + 1);
    return {x.z & ~kTallLast,
            x.w,
            y.w,
            static_cast<std::int32_t>(y.x),
            static_cast<std::int32_t>(y.y & 0xffu),
            static_cast<std::int32_t>(y.y >> 8 & 0xffu)};
  }
  static __device__ __forceinline__ Head pick(const Head& heads, int lane) {
    return {__shfl_sync(~0u, heads.tile, lane),   __shfl_sync(~0u, heads.value, lane),
            __shfl_sync(~0u, heads.values, lane), __shfl_sync(~0u, heads.group, lane),
            __shfl_sync(~0u, heads.groups, lane), __shfl_sync(~0u, heads.tiles, lane)};
  }
  __device__ __forceinline__ std::int32_t read_column(const Head& head) const {
    return lane_ < 8 * head.groups ? __ldg(task_.col_id + 8 * std::int64_t{head.group} + lane_) : 0;
  }

  /// Copies the parts of a chunk that are neighbours in memory, in pieces of 16 bytes around what is wanted.
  template <class F>
  __device__ __forceinline__ void for_each_part(const Head& head, std::int32_t chunk, std::uint32_t stage,
                                                const F& f) const {
    if constexpr (kValue > 0)
      f(stage + static_cast<std::uint32_t>(task_.stage.values_at),
        static_cast<const std::byte*>(task_.values) +
            std::uint64_t{aligned_down(head.value, kValue)} * kValue,
        pieces_of(head.value, head.values, kValue));
    const auto tiles = static_cast<std::uint32_t>(head.tiles);
    f(stage + static_cast<std::uint32_t>(task_.stage.bitmaps_at),
      reinterpret_cast<const std::byte*>(task_.bitmap + aligned_down(head.tile, 8)),
      pieces_of(head.tile, tiles, 8));
    f(stage + static_cast<std::uint32_t>(task_.stage.offsets_at),
      reinterpret_cast<const std::byte*>(task_.value_offset + aligned_down(head.tile, 4)),
      pieces_of(head.tile, tiles, 4));
    f(stage + static_cast<std::uint32_t>(task_.stage.chunk_at),
      reinterpret_cast<const std::byte*>(task_.chunks + chunk), 2u);
  }

  __device__ __forceinline__ void bring(const Head& head, std::int32_t chunk, std::int32_t columns,
                                        int stage_number) const {
    const std::uint32_t stage = shared_.stage(task_, stage_number);
    const std::uint32_t full = shared_.full(stage_number);
    if (task_.copy == TallCopy::bulk) return bring_bulk(head, chunk, columns, stage, full);
    for_each_part(head, chunk, stage, [&](std::uint32_t to, const std::byte* from, std::uint32_t pieces) {
      for (std::uint32_t i = static_cast<std::uint32_t>(lane_); i < pieces; i += kWarp)
        copy_16(to + 16 * i, from + 16 * std::uint64_t{i});
    });
    if (task_.copy == TallCopy::pieces)
      bring_pieces(head, columns, stage);
    else
      bring_elements(head, columns, stage);
    if (kDense == 2 && task_.copy == TallCopy::elements) {  // their copies were not asynchronous
      copy_wait_all();
      barrier_arrive(full);
    } else {
      barrier_arrive_copied(full);
    }
  }

  /// Bulk copies: one for each part, one for each row of B.
  __device__ __forceinline__ void bring_bulk(const Head& head, std::int32_t chunk, std::int32_t column,
                                             std::uint32_t stage, std::uint32_t full) const {
    const std::uint32_t rows = 8u * static_cast<std::uint32_t>(head.groups);
    std::uint32_t bytes = rows * static_cast<std::uint32_t>(row_bytes_);
    for_each_part(head, chunk, stage,
                  [&](std::uint32_t, const std::byte*, std::uint32_t pieces) { bytes += 16 * pieces; });
    if (lane_ == 0) barrier_arrive_expect(full, bytes);
    __syncwarp();
    if (static_cast<std::uint32_t>(lane_) < rows)
      copy_bulk(stage + static_cast<std::uint32_t>(lane_ * task_.stage.pitch),
                b_ + std::uint64_t{static_cast<std::uint32_t>(column)} *
                         static_cast<std::uint64_t>(task_.ldb_bytes),
                static_cast<std::uint32_t>(row_bytes_), full);
    if (lane_ == 0)
      for_each_part(head, chunk, stage, [&](std::uint32_t to, const std::byte* from, std::uint32_t pieces) {
        if (pieces > 0) copy_bulk(to, from, 16 * pieces, full);
      });
  }

  /// A lane copies 16 bytes of a row; a warp copies 1, 2 or 4 rows at once.
  __device__ __forceinline__ void bring_pieces(const Head& head, std::int32_t columns,
                                               std::uint32_t stage) const {
    const int lanes = 8 * task_.slice_segments;  // of a row
    const int together = kWarp / lanes, mine = lane_ / lanes, byte = lane_ % lanes * 16;
    const std::byte* const from = b_ + byte;
    std::uint32_t to = stage + static_cast<std::uint32_t>(mine * task_.stage.pitch + byte);
    const std::uint32_t step = static_cast<std::uint32_t>(together * task_.stage.pitch);
    const int rows = 8 * head.groups;
#pragma unroll 8
    for (int row = 0; row < rows; row += together, to += step) {
      const std::int32_t column = __shfl_sync(~0u, columns, row + mine);
      if (byte < row_bytes_)
        copy_16(to, from + std::uint64_t{static_cast<std::uint32_t>(column)} *
                               static_cast<std::uint64_t>(task_.ldb_bytes));
    }
  }

  /// Element by element.
  __device__ __forceinline__ void bring_elements(const Head& head, std::int32_t columns,
                                                 std::uint32_t stage) const {
    const int elements = row_bytes_ / kDense;
    for (int row = 0; row < 8 * head.groups; ++row) {
      const std::int32_t column = __shfl_sync(~0u, columns, row);
      const std::byte* const from = b_ + std::uint64_t{static_cast<std::uint32_t>(column)} *
                                             static_cast<std::uint64_t>(task_.ldb_bytes);
      const std::uint32_t to = stage + static_cast<std::uint32_t>(row * task_.stage.pitch);
      for (int e = lane_; e < elements; e += kWarp) {
        if constexpr (kDense == 2)
          store_half(to + static_cast<std::uint32_t>(2 * e),
                     __ldg(reinterpret_cast<const unsigned short*>(from) + e));
        else
          copy_element<kDense>(to + static_cast<std::uint32_t>(e * kDense), from + e * kDense);
      }
    }
  }

  const TallTask& task_;
  const TallShared& shared_;
  const TallItem& item_;
  int lane_;
  const std::byte* b_;  ///< the slice of row 0
  int row_bytes_;       ///< of the slice that exist
};

}  // namespace sptile::runtime::cuda
