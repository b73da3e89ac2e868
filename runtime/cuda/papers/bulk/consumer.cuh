// A consumer warp of a bulk block: owns one segment of the slice, for all 16 rows of a window.
#pragma once

#include "runtime/cuda/collective/lanes.hpp"
#include "runtime/cuda/collective/mma.cuh"
#include "runtime/cuda/device/ptx.cuh"
#include "runtime/cuda/papers/bulk/stages.cuh"
#include "runtime/cuda/papers/bulk/task.cuh"
#include "runtime/cuda/papers/bulk/windows.cuh"

namespace sptile::runtime::cuda {

/// Returns the position of a lane's row `k` of its two of a tile in a stage: bmat's words have columns t and
/// t + 4.
SPTILE_HOST_DEVICE constexpr int bulk_fragment_at(int lane, int tile, int k, int segment, int pitch) {
  return (8 * tile + word_column(lane, k)) * pitch + segment * kBulkSegmentBytes + lane_group(lane) * 16;
}

/// `Entries` reads the operands of a tile from a stage: BulkEntries or BulkWords. `Stages` has the stages:
/// BulkFilledStages or BulkOwnStage.
template <class Math, class Entries, class Stages>
class BulkConsumer {
  using Dense = typename Math::Dense;
  using Acc = typename Math::Acc;
  using Chunk = typename Math::Chunk;
  using Sums = typename Math::Sums;
  using Piece = Vec<typename Math::Acc, Math::kElements>;
  static constexpr int kElements = Math::kElements;
  static constexpr int kBatch = 2;  ///< tiles whose operands are loaded before the first is multiplied
  static_assert(sizeof(Chunk) == 16 && kBulkDecoded % kBatch == 0);

 public:
  __device__ __forceinline__ BulkConsumer(const BulkTask& task, const BulkShared& shared, int segment,
                                          int lane)
      : task_(task),
        shared_(shared),
        stages_(task, shared),
        parts_(task),
        windows_(task.tiles, lane),
        entries_(task.tiles),
        segment_(segment),
        lane_(lane) {
    dense_at_ = static_cast<std::uint32_t>(bulk_fragment_at(lane, 0, 0, segment, task.stage.pitch));
  }

  __device__ __forceinline__ void run() {
    StageCursor cursor;
    clear();
    while (parts_.advance()) {
      const BulkPart& part = parts_.part();
      const bool mine = segment_ >= part.segment_begin && segment_ < part.segment_end;
      feature_ = (std::int64_t{parts_.slice()} * task_.slice_segments + segment_) * (8 * kElements) +
                 lane_feature(lane_, 0, kElements);
      if (mine) windows_.start(part.window_begin, part.window_end);
      entries_.start(part.value_begin);
      for (std::int32_t tile = part.tile_begin; tile < part.tile_end; tile += task_.stage_tiles) {
        stages_.wait(cursor, parts_, tile);
        if (mine)
          multiply_stage(cursor.stage, tile);
        else
          stages_.release(cursor.stage, lane_);
        cursor.advance(task_.stages);
      }
      while (mine && windows_.window() < part.window_end) close_window();
    }
  }

 private:
  static __device__ __forceinline__ Chunk load(std::uint32_t at) {
    const uint4 bits = shared_piece(at);
    Chunk chunk;
    __builtin_memcpy(&chunk, &bits, sizeof chunk);
    return chunk;
  }

  /// Operands of a lane for one tile.
  struct Operands {
    typename Entries::Half entries[2];
    Chunk dense[2];
  };
  [[nodiscard]] __device__ __forceinline__ Operands read(std::uint32_t stage, int tile) {
    Operands operands;
    entries_.load(operands.entries,
                  stage + static_cast<std::uint32_t>(task_.stage.entries_at + tile * Entries::kTileBytes),
                  lane_);
#pragma unroll
    for (int k = 0; k < 2; ++k)
      operands.dense[k] =
          load(stage + dense_at_ + static_cast<std::uint32_t>((8 * tile + 4 * k) * task_.stage.pitch));
    return operands;
  }
  __device__ __forceinline__ void multiply(const Operands& operands) {
    const typename Math::Fragment f = Math::fragment(operands.dense[0], operands.dense[1]);
#pragma unroll
    for (int h = 0; h < 2; ++h) Math::multiply(sums_[h], f, operands.entries[h]);
  }

  /// Multiplies the tiles of a stage, starting at `tile`.
  __device__ __forceinline__ void multiply_stage(int stage_number, std::int32_t tile) {
    const std::uint32_t stage = shared_.stage(task_, stage_number);
#pragma unroll 1
    for (int b = 0; b < task_.stage_tiles; b += kBatch) {
      const bool last = b + kBatch == task_.stage_tiles;
      if (tile + b + kBatch <= min(windows_.end(), parts_.part().tile_end)) {
        multiply_batch(stage, stage_number, b, last);
      } else {
        multiply_one_by_one(stage, tile, b);
        if (last) stages_.release(stage_number, lane_);
      }
    }
  }

  /// Multiplies tiles within one window. All operands are loaded before the first are multiplied, and the
  /// stage is released after the loads.
  __device__ __forceinline__ void multiply_batch(std::uint32_t stage, int stage_number, int begin,
                                                 bool last) {
    Operands operands[kBatch];
#pragma unroll
    for (int i = 0; i < kBatch; ++i) operands[i] = read(stage, begin + i);
    if (last) stages_.release(stage_number, lane_);
#pragma unroll
    for (int i = 0; i < kBatch; ++i) multiply(operands[i]);
  }

  /// Multiplies tiles at the end of windows or of the part.
  __device__ __forceinline__ void multiply_one_by_one(std::uint32_t stage, std::int32_t tile, int begin) {
    const int end = min(begin + kBatch, parts_.part().tile_end - tile);
#pragma unroll 1
    for (int i = begin; i < end; ++i) {
      const Operands operands = read(stage, i);
      while (tile + i == windows_.end()) close_window();
      multiply(operands);
    }
  }

  /// Ends the current window and advances to the next.
  __device__ __forceinline__ void close_window() {
    store();
    clear();
    windows_.advance();
  }
  __device__ __forceinline__ void clear() {
    constexpr int kCount = sizeof(Sums) / sizeof(Acc);
#pragma unroll
    for (int h = 0; h < 2; ++h)
#pragma unroll
      for (int i = 0; i < kCount; ++i) (&sums_[h][0][0])[i] = Acc{0};
  }

  /// Writes the rows of the current window.
  __device__ __forceinline__ void store() const {
#pragma unroll
    for (int h = 0; h < 2; ++h)
#pragma unroll
      for (int r = 0; r < 2; ++r) store_row(windows_.row(8 * h + lane_result_row(lane_, r)), sum(h, r));
  }

  __device__ __forceinline__ void store_row(std::int32_t row, const Piece& piece) const {
    if (row < 0) return;
    Dense* const to = static_cast<Dense*>(task_.tiles.c) + std::int64_t{row} * task_.tiles.ldc + feature_;
    const auto left = static_cast<int>(min(task_.tiles.n - feature_, std::int64_t{kElements}));
    if (task_.whole_pieces)
      store_piece<true>(to, piece.e, scale_of<Acc>(task_.tiles), left);
    else
      store_piece<false>(to, piece.e, scale_of<Acc>(task_.tiles), left);
  }

  [[nodiscard]] __device__ __forceinline__ Piece sum(int h, int r) const {
    Piece piece;
#pragma unroll
    for (int e = 0; e < kElements; ++e) piece.e[e] = Math::sum_at(sums_[h], e, r);
    return piece;
  }

  const BulkTask& task_;
  const BulkShared& shared_;
  Stages stages_;
  BulkParts parts_;
  BulkWindows windows_;
  Entries entries_;
  int segment_, lane_;
  std::uint32_t dense_at_;
  std::int64_t feature_ = 0;  ///< the lane's first feature
  Sums sums_[2];
};

}  // namespace sptile::runtime::cuda
