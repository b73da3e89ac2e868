// A consumer warp of a bulk block: owns one segment of the slice, for all 16 rows of a window.
#pragma once

#include "runtime/cuda/papers/bulk/entries.cuh"
#include "runtime/cuda/papers/bulk/task.cuh"
#include "runtime/cuda/papers/bulk/windows.cuh"
#include "runtime/cuda/tile/sum_tree.cuh"

namespace sptile::runtime::cuda {

/// Where a lane finds row `k` of its two of a tile in a stage: bmat's words have columns t and t + 4.
SPTILE_HOST_DEVICE constexpr int bulk_fragment_at(int lane, int tile, int k, int segment, int pitch) {
  return (8 * tile + word_column(lane, k)) * pitch + segment * kBulkSegmentBytes + lane_group(lane) * 16;
}

template <class V, class Math, int kTiles>
class BulkConsumer {
  using Dense = typename Math::Dense;
  using Acc = typename Math::Acc;
  using Chunk = typename Math::Chunk;
  using Sums = typename Math::Sums;
  using Piece = RowPiece<typename Math::Acc, Math::kElements>;
  using Entries = BulkEntries<Math, V>;
  static constexpr int kElements = Math::kElements;
  static constexpr int kBatch = 4;  ///< tiles whose operands are read before the first is multiplied
  static_assert(sizeof(Chunk) == 16 && kTiles % kBatch == 0);

 public:
  __device__ __forceinline__ BulkConsumer(const BulkTask& task, const BulkShared& shared, int segment,
                                          int lane)
      : task_(task),
        shared_(shared),
        pieces_(task),
        windows_(task.tiles, lane),
        segment_(segment),
        lane_(lane) {
    dense_at_ = static_cast<std::uint32_t>(bulk_fragment_at(lane, 0, 0, segment, task.stage.pitch));
  }

  __device__ __forceinline__ void run() {
    StageCursor cursor;
    clear();
    while (pieces_.advance()) {
      const BulkPiece& piece = pieces_.piece();
      feature_ = (std::int64_t{pieces_.slice()} * task_.slice_segments + segment_) * (8 * kElements) +
                 lane_feature(lane_, 0, kElements);
      windows_.start(piece.window_begin, piece.window_end);
      for (std::int32_t tile = piece.tile_begin; tile < piece.tile_end; tile += kTiles) {
        barrier_wait(shared_.full(cursor.stage), cursor.phase);
        multiply_stage(cursor.stage, tile);
        cursor.advance(task_.stages);
      }
      while (windows_.window() < piece.window_end) close_window();
    }
  }

  // For add_pieces.
  __device__ __forceinline__ void clear() {
    constexpr int kCount = sizeof(Sums) / sizeof(Acc);
#pragma unroll
    for (int h = 0; h < 2; ++h)
#pragma unroll
      for (int i = 0; i < kCount; ++i) (&sums_[h][0][0])[i] = Acc{0};
  }

  __device__ __forceinline__ void store_partial(std::int32_t slot) const {
#pragma unroll
    for (int h = 0; h < 2; ++h)
#pragma unroll
      for (int r = 0; r < 2; ++r) *partial(slot, h, r) = sum(h, r);
  }
  __device__ __forceinline__ void add_partial(std::int32_t slot) {
#pragma unroll
    for (int h = 0; h < 2; ++h)
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const Piece piece = load_written(partial(slot, h, r));
#pragma unroll
        for (int e = 0; e < kElements; ++e) Math::sum_at(sums_[h], e, r) += piece.e[e];
      }
  }

 private:
  static __device__ __forceinline__ Chunk load(std::uint32_t at) {
    const uint4 bits = shared_piece(at);
    Chunk chunk;
    __builtin_memcpy(&chunk, &bits, sizeof chunk);
    return chunk;
  }

  /// What a lane multiplies for one tile.
  struct Operands {
    typename Entries::Half entries[2];
    Chunk dense[2];
  };
  [[nodiscard]] __device__ __forceinline__ Operands read(std::uint32_t stage, int tile) const {
    Operands operands;
    Entries::load(operands.entries,
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

  /// Lets the producers have the stage again. What has been read must be there before a bulk copy writes, and
  /// only the fence has the two wait for each other: without it, tiles were multiplied by rows of a later
  /// stage.
  __device__ __forceinline__ void release(int stage_number) const {
    fence_bulk();
    __syncwarp();
    if (lane_ == 0) barrier_arrive(shared_.empty(stage_number));
  }

  /// Multiplies the tiles of a stage, of which `tile` is the first.
  __device__ __forceinline__ void multiply_stage(int stage_number, std::int32_t tile) {
    const std::uint32_t stage = shared_.stage(task_, stage_number);
#pragma unroll 1
    for (int b = 0; b < kTiles; b += kBatch) {
      const bool last = b + kBatch == kTiles;
      if (tile + b + kBatch <= min(windows_.end(), pieces_.piece().tile_end)) {
        multiply_batch(stage, stage_number, b, last);
      } else {
        multiply_one_by_one(stage, tile, b);
        if (last) release(stage_number);
      }
    }
  }

  /// Within one window. All operands are read before the first are multiplied, and the stage is free as soon
  /// as it has been read.
  __device__ __forceinline__ void multiply_batch(std::uint32_t stage, int stage_number, int begin,
                                                 bool last) {
    Operands operands[kBatch];
#pragma unroll
    for (int i = 0; i < kBatch; ++i) operands[i] = read(stage, begin + i);
    if (last) release(stage_number);
#pragma unroll
    for (int i = 0; i < kBatch; ++i) multiply(operands[i]);
  }

  /// Where windows end, or the piece does.
  __device__ __forceinline__ void multiply_one_by_one(std::uint32_t stage, std::int32_t tile, int begin) {
    const int end = min(begin + kBatch, pieces_.piece().tile_end - tile);
#pragma unroll 1
    for (int i = begin; i < end; ++i) {
      const Operands operands = read(stage, i);
      while (tile + i == windows_.end()) close_window();
      multiply(operands);
    }
  }

  /// Ends the current window and goes on to the next.
  __device__ __forceinline__ void close_window() {
    const BulkPiece& piece = pieces_.piece();
    std::int32_t slot = -1;
    if (windows_.window() == piece.window_begin && piece.head_slot >= 0)
      slot = piece.head_slot;
    else if (windows_.window() == piece.window_end - 1)
      slot = piece.tail_slot;
    if (slot < 0 || has_whole_window(slot)) store();
    clear();
    windows_.advance();
  }

  /// Adds the part of a window to the others; true when there are no more to come.
  __device__ __forceinline__ bool has_whole_window(std::int32_t slot) {
    constexpr int kTogether = 32 / static_cast<int>(sizeof(Piece));  // parts on their way at a time
    const SplitWindow split = task_.tiles.splits[task_.slot_splits[slot]];
    const std::int64_t stride = std::int64_t{task_.tiles.slices} * task_.slice_segments;
    unsigned* const arrived = task_.tiles.arrived + split.first_counter * stride +
                              pieces_.slice() * std::int64_t{task_.slice_segments} + segment_;
    return add_pieces<kTogether>(*this, split, slot, arrived, stride, lane_);
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

  /// Where the lane's sums of a slot are.
  [[nodiscard]] __device__ __forceinline__ Piece* partial(std::int32_t slot, int h, int r) const {
    const std::int64_t row = slot * std::int64_t{16} + 8 * h + lane_result_row(lane_, r);
    return reinterpret_cast<Piece*>(static_cast<Acc*>(task_.tiles.partials) + row * task_.tiles.padded_n +
                                    feature_);
  }

  const BulkTask& task_;
  const BulkShared& shared_;
  BulkPieces pieces_;
  BulkWindows windows_;
  int segment_, lane_;
  std::uint32_t dense_at_;
  std::int64_t feature_ = 0;  ///< first of the lane's
  Sums sums_[2];
};

}  // namespace sptile::runtime::cuda
