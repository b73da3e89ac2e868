// A window on tensor cores (HyGNN, section 6.3): all warps of the block copy the rows of B of a tile to
// shared memory, then each multiplies the tile by 16 of their features.
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
      for (std::int32_t t = tile; t < end; ++t) {
        __syncthreads();
        stage_tile(t);
        stage_rows(t, first);
        __syncthreads();
        multiply(sum);
      }
      store(window * kHygnnRows, first + thread_.warp * kHygnnFeatures, sum);
    }
  }

 private:
  __device__ __forceinline__ void stage_tile(std::int32_t tile) {
    for (int place = thread_.warp * kWarpSize + thread_.lane; place < kHygnnRows * 8;
         place += thread_.warps * kWarpSize) {
      const std::uint32_t* const mask = task_.masks + std::int64_t{tile} * 4;
      std::uint32_t before = 0;
      for (int word = 0; word < place / 32; ++word) before += count_bits(__ldg(mask + word));
      const std::uint32_t word = __ldg(mask + place / 32), bit = 1u << place % 32;
      before += count_bits(word & (bit - 1));
      shared_.a[place] =
          (word & bit) != 0
              ? value_at<V, float>(task_.tile_values, std::int64_t{__ldg(task_.tile_value + tile)} + before)
              : 0.0f;
    }
  }

  __device__ __forceinline__ void stage_rows(std::int32_t tile, std::int64_t first) {
    constexpr int kPieces = 4;  // pieces of 32 elements, per warp
    for (int i = 0; i < kPieces; ++i) {
      const int piece = i * thread_.warps + thread_.warp, slab = piece / kPieces, part = piece % kPieces;
      const int row = kConflictFree ? thread_.lane / 4 : 2 * part + thread_.lane / 16;
      const int feature = kConflictFree ? 4 * part + thread_.lane % 4 : thread_.lane % 16;
      shared_.x[slab][feature][row] = task_.dense(__ldg(task_.tile_columns + std::int64_t{tile} * 8 + row),
                                                  first + slab * kHygnnFeatures + feature);
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
