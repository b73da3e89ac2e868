// Products of dense tiles by the four warps of a warpgroup, which own all rows of the window and one segment
// of the slice each. A row of B is loaded from shared memory once per window, where TallTiles load it once
// per tile. Other warps write the tiles (dense_writer.cuh). Products are B transposed, from registers, times
// the tiles, from shared memory.
#pragma once

#include "runtime/cuda/collective/copy.cuh"
#include "runtime/cuda/collective/mma.cuh"
#include "runtime/cuda/families/tall/result.cuh"

namespace sptile::runtime::cuda {

/// Compile-time parameters of a kernel with dense tiles. Values are of the type of B; a matrix without values
/// is a pattern.
template <class MathT, int kSubWindows>
struct TallDenseKernel : TallKernel<typename MathT::Dense, MathT, kSubWindows, 1, kWarpgroup, 2> {
  static constexpr bool kDense = true;
  static constexpr int kVariantSegments = kWarpgroup;
  /// A block has a warpgroup of consumers and one of helpers with 128 registers per thread, of which helpers
  /// release half.
  static constexpr int kConsumerRegisters = kTallPolicy.consumer_registers,
                       kHelperRegisters = kTallPolicy.helper_registers;
  static constexpr std::uint32_t kTileBytes = 256, kGroupBytes = kSubWindows * kTileBytes;
};

template <class K>
class TallDenseTiles {
  using Math = typename K::Math;
  using Chunk = typename Math::Chunk;
  using Fragment = typename Math::Fragment;
  using Sums = typename TallResult<K>::Window;
  static constexpr int kProducts = K::kElements / 2;  ///< per group
  static_assert(K::kSegments == 1);

 public:
  __device__ __forceinline__ TallDenseTiles(const TallTask& task, const TallShared& shared,
                                            const TallPart& part)
      : task_(task), shared_(shared), lane_(part.lane) {
    dense_at_ = static_cast<std::uint32_t>(tall_fragment_at(part.lane, 0, 0, part.segment, task.stage.pitch));
  }

  /// Adds the products of the chunk of a stage. Calls release() once it has been read.
  template <class Release>
  __device__ __forceinline__ void multiply(Sums& sums, std::uint32_t stage, const uint4& head,
                                           const Release& release) {
    const auto groups = static_cast<int>(head.w & 0xffu);
    Fragment fragments[kTallChunkGroups];
#pragma unroll
    for (int g = 0; g < kTallChunkGroups; ++g) fragments[g] = read_rows(stage, g, g < groups);
    release();
    shared_.dense().wait_full(tiles_);
    const std::uint32_t tiles = shared_.tiles(task_, tiles_.stage);
    warpgroup_arrive();
#pragma unroll
    for (int g = 0; g < kTallChunkGroups; ++g) {
      const std::uint64_t operand = warpgroup_operand(tiles + static_cast<std::uint32_t>(g) * K::kGroupBytes,
                                                      K::kTileBytes / 2, K::kTileBytes);
#pragma unroll
      for (int j = 0; j < kProducts; ++j)
        warpgroup_tf32<K::kSubWindows>([&](int h, int i) -> float& { return sums[h][0][j][i]; },
                                       fragments[g].operand[j].big, operand);
    }
    warpgroup_commit();
    warpgroup_wait();
    if (lane_ == 0) barrier_arrive(shared_.dense().empty(tiles_.stage));
    tiles_.advance(kTallDenseChunks);
  }

 private:
  /// Returns the rows of B of a group; zeros if the chunk does not have the group.
  __device__ __forceinline__ Fragment read_rows(std::uint32_t stage, int group, bool there) const {
    const std::uint32_t at = stage + dense_at_ + static_cast<std::uint32_t>(8 * group * task_.stage.pitch);
    Fragment fragment =
        Math::fragment(shared_element_if<Chunk>(at, there),
                       shared_element_if<Chunk>(at + static_cast<std::uint32_t>(task_.stage.pitch), there));
#pragma unroll
    for (int j = 0; j < kProducts; ++j)
#pragma unroll
      for (int i = 0; i < 4; ++i) keep(fragment.operand[j].big[i]);  // rounded before the products
    return fragment;
  }

  const TallTask& task_;
  const TallShared& shared_;
  int lane_;
  std::uint32_t dense_at_;
  StageCursor tiles_;
};

}  // namespace sptile::runtime::cuda
