// Parameters of the bulk kernel, and the iteration of its blocks over the matrix.
#pragma once

#include <cstdint>

#include "runtime/cuda/collective/pipeline.cuh"
#include "runtime/cuda/families/tile/task.cuh"
#include "runtime/cuda/papers/bulk/schedule.hpp"

namespace sptile::runtime::cuda {

inline constexpr int kBulkRowLeast = 256;  ///< minimum bytes of a slice for a bulk copy per row

/// Copies of rows of B.
enum class BulkCopy {
  rows,     ///< one bulk copy per row
  pieces,   ///< 16 bytes per lane
  elements  ///< unaligned operands
};

/// Kernel parameter. Block blockIdx / slices_together has the share of that index, in one of the concurrent
/// slices, in pass after pass.
struct BulkTask {
  TileTask tiles;
  const BulkShare* shares;
  BulkStage stage;
  int stages, slice_segments;
  int stage_tiles, producers, decoders;
  BulkCopy copy;
  bool whole_pieces;  ///< C is stored in vectors of 16 bytes
};

/// Addresses in the shared memory of a block: barriers, then stages.
struct BulkShared : StageBarriers {
  [[nodiscard]] __device__ __forceinline__ std::uint32_t stage(const BulkTask& task, int stage) const {
    return memory + static_cast<std::uint32_t>(kBulkBarrierBytes + stage * task.stage.bytes);
  }
};

/// Iterates over the parts of a block's share, slice after slice. All lanes take the same steps.
class BulkParts {
 public:
  __device__ __forceinline__ explicit BulkParts(const BulkTask& task) : task_(task) {
    const auto together = static_cast<unsigned>(task.tiles.slices_together);
    share_ = reinterpret_cast<const BulkPart*>(task.shares + blockIdx.x / together);
    slice_ = static_cast<std::int32_t>(blockIdx.x % together);
  }
  /// Advances to the next part, which may be empty; returns false if there is none.
  __device__ __forceinline__ bool advance() {
    if (next_ == kBulkParts) {
      next_ = 0;
      slice_ += task_.tiles.slices_together;
    }
    if (slice_ >= task_.tiles.slices) return false;
    const auto* const from = reinterpret_cast<const int4*>(share_ + next_);
    const int4 x = __ldg(from), y = __ldg(from + 1);
    __builtin_memcpy(&part_, &x, sizeof x);
    __builtin_memcpy(reinterpret_cast<std::byte*>(&part_) + sizeof x, &y, sizeof y);
    ++next_;
    return true;
  }
  [[nodiscard]] __device__ __forceinline__ const BulkPart& part() const { return part_; }
  [[nodiscard]] __device__ __forceinline__ std::int32_t slice() const { return slice_; }

 private:
  const BulkTask& task_;
  const BulkPart* share_;
  std::int32_t slice_, next_ = 0;
  BulkPart part_;
};

/// Iterates over the stages of a block: the tiles of every part, one stage at a time.
class BulkStages {
 public:
  __device__ __forceinline__ explicit BulkStages(const BulkTask& task) : task_(task), parts_(task) {}

  __device__ __forceinline__ bool advance() {
    tile_ += task_.stage_tiles;
    first_ = false;
    while (tile_ >= end_) {  // a part may be empty, or have only windows without tiles
      if (!parts_.advance()) return false;
      tile_ = part().tile_begin;
      end_ = part().tile_end;
      first_ = true;
    }
    return true;
  }
  [[nodiscard]] __device__ __forceinline__ std::int32_t tile() const { return tile_; }
  [[nodiscard]] __device__ __forceinline__ int count() const { return min(task_.stage_tiles, end_ - tile_); }
  [[nodiscard]] __device__ __forceinline__ std::int32_t slice() const { return parts_.slice(); }
  [[nodiscard]] __device__ __forceinline__ const BulkPart& part() const { return parts_.part(); }
  /// Returns whether the stage is the first of a part.
  [[nodiscard]] __device__ __forceinline__ bool is_first() const { return first_; }

 private:
  const BulkTask& task_;
  BulkParts parts_;
  std::int32_t tile_ = 0, end_ = 0;
  bool first_ = false;
};

}  // namespace sptile::runtime::cuda
