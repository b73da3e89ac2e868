// Parameters of the tall kernels.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/cuda/collective/pipeline.cuh"
#include "runtime/cuda/collective/vector.cuh"
#include "runtime/cuda/families/tall/schedule.hpp"

namespace sptile::runtime::cuda {

/// Copies of rows of B and values.
enum class TallCopy {
  pieces,   ///< 16 bytes per lane
  elements  ///< unaligned operands
};

/// Kernel parameters: device pointers and numbers.
struct TallTask {
  const TallChunk* chunks;
  const TallItem* items;
  const TallPiece* pieces;
  const std::int32_t* col_id;
  const std::uint64_t* bitmap;
  const std::uint32_t* value_offset;
  /// Positions of nonzeros in dense tiles; null: they follow from bitmaps and value offsets.
  const std::uint16_t* places;
  const void* values;
  std::int64_t value_bytes;
  const std::int32_t* row_order;  ///< null: original order
  std::int32_t item_count, slices;
  TallStage stage;
  int stages_at;  ///< offset of the first stage in shared memory, after the barriers
  int stages, slice_segments, row_warps, feature_warps;
  TallCopy copy;
  int dense_bytes;    ///< per chunk with dense tiles
  bool whole_pieces;  ///< C is stored in vectors of 16 bytes
  const std::byte* b;
  std::int64_t ldb_bytes;
  void* c;
  std::int64_t ldc, n;
  Scale<float> scale;
  Scale<double> wide_scale;
  unsigned* arrived;  ///< one counter per slot, slice and warp; that of a window's first slot is used
  void* partials;     ///< slots x slices x rows of the block x features of a slice
};

/// Returns alpha and beta in the accumulator type.
template <class Acc>
__device__ __forceinline__ const Scale<Acc>& scale_of(const TallTask& task) {
  if constexpr (std::is_same_v<Acc, double>)
    return task.wide_scale;
  else
    return task.scale;
}

/// Addresses in the shared memory of a block: barriers of stages and of dense tiles, stages, dense tiles.
struct TallShared : StageBarriers {
  static constexpr int kMaxStages = kTallPolicy.max_stages;
  static constexpr int kBarrierBytes = 128;
  static_assert(kBytes * (kMaxStages + kTallDenseChunks) <= kBarrierBytes);

  [[nodiscard]] __device__ __forceinline__ std::uint32_t stage(const TallTask& task, int stage) const {
    return memory + static_cast<std::uint32_t>(task.stages_at + stage * task.stage.bytes);
  }
  /// The ring of the dense tiles of a chunk.
  [[nodiscard]] __device__ __forceinline__ StageBarriers dense() const { return {full(kMaxStages)}; }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t tiles(const TallTask& task, int chunk) const {
    return stage(task, task.stages) + static_cast<std::uint32_t>(chunk * task.dense_bytes);
  }
};

}  // namespace sptile::runtime::cuda
