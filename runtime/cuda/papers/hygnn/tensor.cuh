// A window on tensor cores (HyGNN, section 6.3): all warps of the block copy the rows of B of a tile to
// shared memory, then each multiplies the tile by 16 of their features. The ids of the next tile's rows are
// loaded early.
#pragma once

#include <cstdint>

#include "runtime/cuda/collective/lanes.hpp"
#include "runtime/cuda/collective/mma.cuh"
#include "runtime/cuda/device/ptx.cuh"
#include "runtime/cuda/papers/hygnn/task.cuh"

namespace sptile::runtime::cuda {

/// Passes each sum to `sink.store(row, feature, sum)`, also of rows and features past the ends.
/// kConflictFree: a warp loads 4 features of 8 rows, which are in 32 banks. Otherwise it loads 16 features of
/// 2 rows, four of which share a bank.
template <class V, bool kConflictFree, class Sink>
class HygnnTensor {
 public:
  __device__ __forceinline__ HygnnTensor(const HygnnOperands& operands, HygnnTile& shared,
                                         const HygnnThread& thread, const Sink& sink)
      : task_(operands), shared_(shared), thread_(thread), sink_(sink) {}

  __device__ __forceinline__ void run(std::int32_t window, std::int32_t tile, std::int32_t end) {
    for (std::int64_t first = 0; first < task_.n; first += thread_.warps * kHygnnFeatures) {
      float sum[2][4] = {};  // 8 features each
      Places places = places_of(tile);
      for (std::int32_t t = tile; t < end; ++t) {
        const Elements elements = load(places, first);
        if (t + 1 < end) places = places_of(t + 1);
        __syncthreads();
        stage(elements);
        __syncthreads();
        if (first + thread_.warp * kHygnnFeatures < task_.n) multiply(sum);
      }
      store(window * kHygnnRows, first + thread_.warp * kHygnnFeatures, sum);
    }
  }

 private:
  static constexpr int kPieces = 4;  ///< pieces of 32 elements of B, per warp

  /// Where the thread's elements of a tile are.
  struct Places {
    std::int64_t value;  ///< negative: not a nonzero
    std::int32_t columns[kPieces];
  };
  struct Elements {
    float a, b[kPieces];
  };

  /// The thread's piece i of the rows of B: a slab of 16 features, and the element's place in it.
  struct Piece {
    int slab, row, feature;
  };
  __device__ __forceinline__ Piece piece(int i) const {
    const int all = i * thread_.warps + thread_.warp, part = all % kPieces;
    return {all / kPieces, kConflictFree ? thread_.lane / 4 : 2 * part + thread_.lane / 16,
            kConflictFree ? 4 * part + thread_.lane % 4 : thread_.lane % 16};
  }

  __device__ __forceinline__ Places places_of(std::int32_t tile) const {
    Places places = {-1, {}};
    if (thread_.warp < kHygnnRows * 8 / kWarpSize) {  // a warp has the elements of a word
      const uint4 mask = __ldg(reinterpret_cast<const uint4*>(task_.masks) + tile);
      const int w = thread_.warp;
      const std::uint32_t word = w == 0 ? mask.x : w == 1 ? mask.y : w == 2 ? mask.z : mask.w;
      const std::uint32_t before = (w > 0 ? count_bits(mask.x) : 0) + (w > 1 ? count_bits(mask.y) : 0) +
                                   (w > 2 ? count_bits(mask.z) : 0);
      const std::uint32_t bit = 1u << thread_.lane;
      if ((word & bit) != 0)
        places.value = std::int64_t{__ldg(task_.tile_value + tile)} + before + count_bits(word & (bit - 1));
    }
#pragma unroll
    for (int i = 0; i < kPieces; ++i)
      places.columns[i] = __ldg(task_.tile_columns + std::int64_t{tile} * 8 + piece(i).row);
    return places;
  }

  __device__ __forceinline__ Elements load(const Places& places, std::int64_t first) const {
    Elements elements;
    elements.a = places.value >= 0 ? value_at<V, float>(task_.tile_values, places.value) : 0.0f;
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      const Piece p = piece(i);
      elements.b[i] = task_.dense(places.columns[i], first + p.slab * kHygnnFeatures + p.feature);
    }
    return elements;
  }

  __device__ __forceinline__ void stage(const Elements& elements) const {
    if (const int place = thread_.warp * kWarpSize + thread_.lane; place < kHygnnRows * 8)
      shared_.a[place] = elements.a;
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      const Piece p = piece(i);
      shared_.x[p.slab][p.feature][p.row] = elements.b[i];
    }
  }

  __device__ __forceinline__ void multiply(float (&sum)[2][4]) const {
    const int group = lane_group(thread_.lane), member = lane_member(thread_.lane);
    Tf32Operand<false, 4> tile;
    for (int i = 0; i < 4; ++i)
      tile.big[i] = to_tf32(shared_.a[(group + i % 2 * 8) * 8 + member + i / 2 * 4]);
    for (int half = 0; half < 2; ++half) {
      const float* const x = shared_.x[thread_.warp][half * 8 + group];
      mma(sum[half], tile, tf32_operand<false>({x[member], x[member + 4]}));
    }
  }

  __device__ __forceinline__ void store(std::int32_t row, std::int64_t feature,
                                        const float (&sum)[2][4]) const {
    const int group = lane_group(thread_.lane), member = lane_member(thread_.lane);
    for (int half = 0; half < 2; ++half)
      for (int i = 0; i < 4; ++i)
        sink_.store(row + group + i / 2 * 8, feature + half * 8 + member * 2 + i % 2, sum[half][i]);
  }

  const HygnnOperands& task_;
  HygnnTile& shared_;
  HygnnThread thread_;
  const Sink& sink_;
};

}  // namespace sptile::runtime::cuda
