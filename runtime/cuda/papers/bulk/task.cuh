// What a launch of a bulk kernel is told, and the way of its blocks through the matrix.
#pragma once

#include <cstdint>

#include "runtime/cuda/papers/bulk/schedule.hpp"
#include "runtime/cuda/tile/task.cuh"

namespace sptile::runtime::cuda {

inline constexpr int kBulkProducerRows = 16;  ///< of a stage that one producer warp brings
inline constexpr int kBulkRowLeast = 256;     ///< bytes below which a row is not worth a bulk copy
inline constexpr int kBulkDecoders = 2;       ///< warps that share the tiles of a stage

/// How rows of B are brought.
enum class BulkCopy {
  rows,     ///< a bulk copy each
  pieces,   ///< 16 bytes a lane
  elements  ///< operands that are not aligned
};

/// Kernel parameter. A block is `number` blockIdx / slices_together for one of the slices that are multiplied
/// at the same time; in pass after pass it has the pieces number, number + blocks, ...
struct BulkTask {
  TileTask tiles;
  const BulkPiece* pieces;
  const std::int32_t* slot_splits;  ///< split window of each slot
  std::int32_t piece_count, blocks;
  BulkStage stage;
  int stages, slice_segments;
  BulkCopy copy;
  bool whole_pieces;  ///< C is written 16 bytes at a time
};

/// Addresses in the shared memory of a block: barriers first, then the stages.
struct BulkShared {
  std::uint32_t memory;

  [[nodiscard]] __device__ __forceinline__ std::uint32_t full(int stage) const {
    return memory + static_cast<std::uint32_t>(16 * stage);
  }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t empty(int stage) const { return full(stage) + 8; }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t stage(const BulkTask& task, int stage) const {
    return memory + static_cast<std::uint32_t>(kBulkBarrierBytes + stage * task.stage.bytes);
  }
};

/// Goes through the pieces of a block. All lanes take the same steps.
class BulkPieces {
 public:
  __device__ __forceinline__ explicit BulkPieces(const BulkTask& task) : task_(task) {
    const auto together = static_cast<unsigned>(task.tiles.slices_together);
    block_ = static_cast<std::int32_t>(blockIdx.x / together);
    slice_ = static_cast<std::int32_t>(blockIdx.x % together);
    next_ = block_;
  }
  /// Goes to the next piece; false when there is none.
  __device__ __forceinline__ bool advance() {
    if (next_ >= task_.piece_count) {
      next_ = block_;
      slice_ += task_.tiles.slices_together;
    }
    if (slice_ >= task_.tiles.slices) return false;
    const auto* const from = reinterpret_cast<const int4*>(task_.pieces + next_);
    const int4 x = __ldg(from), y = __ldg(from + 1);
    __builtin_memcpy(&piece_, &x, sizeof x);
    __builtin_memcpy(reinterpret_cast<std::byte*>(&piece_) + sizeof x, &y, sizeof y);
    next_ += task_.blocks;
    return true;
  }
  [[nodiscard]] __device__ __forceinline__ const BulkPiece& piece() const { return piece_; }
  [[nodiscard]] __device__ __forceinline__ std::int32_t slice() const { return slice_; }

 private:
  const BulkTask& task_;
  std::int32_t block_, slice_, next_;
  BulkPiece piece_;
};

/// Goes through the stages of a block: every piece, kTiles tiles at a time.
template <int kTiles>
class BulkStages {
 public:
  __device__ __forceinline__ explicit BulkStages(const BulkTask& task) : pieces_(task) {}

  __device__ __forceinline__ bool advance() {
    tile_ += kTiles;
    first_ = false;
    while (tile_ >= end_) {  // a piece may have windows without tiles only
      if (!pieces_.advance()) return false;
      tile_ = pieces_.piece().tile_begin;
      end_ = pieces_.piece().tile_end;
      first_ = true;
    }
    return true;
  }
  [[nodiscard]] __device__ __forceinline__ std::int32_t tile() const { return tile_; }
  [[nodiscard]] __device__ __forceinline__ int count() const { return min(kTiles, end_ - tile_); }
  [[nodiscard]] __device__ __forceinline__ std::int32_t slice() const { return pieces_.slice(); }
  /// True at the beginning of a piece.
  [[nodiscard]] __device__ __forceinline__ bool is_first() const { return first_; }
  [[nodiscard]] __device__ __forceinline__ std::int64_t value_begin() const {
    return pieces_.piece().value_begin;
  }

 private:
  BulkPieces pieces_;
  std::int32_t tile_ = 0, end_ = 0;
  bool first_ = false;
};

}  // namespace sptile::runtime::cuda
