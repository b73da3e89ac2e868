// A thread block that multiplies an item as in Acc-SpMM (PPoPP 2025, section 3.4, figure 4): decoded tiles
// and SparseAToB in shared memory, rows of B and sums in registers. Each warp has a slice of 32 columns.
#pragma once

#include <cstdint>

#include "runtime/cuda/collective/block.cuh"
#include "runtime/cuda/collective/exchange.cuh"
#include "runtime/cuda/device/start_kernel.cuh"
#include "runtime/cuda/families/tile/sums.cuh"
#include "runtime/cuda/papers/acc/decoders.cuh"
#include "runtime/cuda/papers/acc/write_through.cuh"

namespace sptile::runtime::cuda {

/// Warps per block.
inline constexpr int kMinAccWarps = kDecodingThreads / kWarpSize, kMaxAccWarps = 8;

/// Compile-time parameters: a decoder, the type of values, the order of steps, and whether rows are accessed
/// in vectors.
template <template <class> class DecoderT, class V, class PipelineT, bool kVectorT>
struct AccKernel : TileShape<typename DecoderT<V>::Source, V, MathF32<false>, 1, kVectorT> {
  using Decoder = DecoderT<V>;
  using Pipeline = PipelineT;
  using Store = WriteThroughStore;
  using TileShape<typename Decoder::Source, V, MathF32<false>, 1, kVectorT>::kHalves;
  static constexpr int kWarpsPerSm = 32;
  static constexpr int kMinTiles = 0;  ///< per warp
  static constexpr std::uint32_t kTileBytes = 64 * kHalves * sizeof(float), kIdsBytes = 32;
  static constexpr std::uint32_t kIdsAt = 2 * kTileBytes;
  static constexpr std::uint32_t kSharedBytes = kIdsAt + 2 * kIdsBytes;  ///< per block
};

template <class K>
class AccBlock : TileSums<K> {
  using Base = TileSums<K>;
  using Math = typename K::Math;
  using Dense = typename K::Dense;
  using Base::item_, Base::lane_, Base::shared_, Base::sums_, Base::task_;

 public:
  /// `slice` is that of the warp; it may be past the end.
  __device__ __forceinline__ AccBlock(const AccTask& task, const TileItem& item, int slice, int lane,
                                      std::uint32_t shared)
      : Base(task.tiles, item, slice, lane, shared), decoder_(task) {
    const std::int64_t loaded =
        std::int64_t{slice} * K::kFeatures + lane_feature(loaded_for(lane), 0, K::kElements);
    left_ = static_cast<int>(min(task_.n - loaded, std::int64_t{K::kFeatures}));
    b_ = static_cast<const std::byte*>(task_.b) + loaded * std::int64_t{sizeof(Dense)};
    keep(left_);
    keep(b_);
  }

  __device__ __forceinline__ void run(bool has_columns) {
    const std::int32_t begin = item_.tile_begin, end = item_.tile_end;
    if (begin < end) {
      decoder_.start(begin, end);
      K::Pipeline::run(*this, begin, end);
    }
    if (has_columns) this->finish();
  }

  // The steps of pipelines.cuh.

  __device__ __forceinline__ void load_a(std::int32_t tile) { decoder_.decode(tile, tile_at(tile)); }

  __device__ __forceinline__ void load_ids(std::int32_t tile, bool there) const {
    const unsigned thread = threadIdx.x;
    copy_if<16>(there && thread < 2, ids_at(tile) + 16 * thread,
                task_.arrays.columns + std::int64_t{tile} * 8 + 4 * thread);
  }

  __device__ __forceinline__ void await_copies() const {
    copy_commit();
    copy_wait<0>();
    __syncthreads();
  }

  template <int kBuffer>
  __device__ __forceinline__ void load_b(std::int32_t tile) {
    const uint2 id =
        shared_pair(ids_at(tile) + 8 * static_cast<std::uint32_t>(lane_member(loaded_for(lane_))));
    load_chunk<K::kVector>(rows_[kBuffer][0], dense_row(id.x), left_);
    load_chunk<K::kVector>(rows_[kBuffer][1], dense_row(id.y), left_);
  }

  template <int kBuffer>
  __device__ __forceinline__ void multiply(std::int32_t tile) {
    this->end_windows(tile);
    const typename Math::Fragment f = Math::fragment(shuffle_words(rows_[kBuffer][0], row_loader(lane_)),
                                                     shuffle_words(rows_[kBuffer][1], row_loader(lane_)));
#pragma unroll
    for (int h = 0; h < K::kHalves; ++h) {
      const uint2 a = shared_pair(tile_at(tile) + 8 * static_cast<std::uint32_t>(kWarpSize * h + lane_));
      Math::multiply(sums_[h][0], f, Math::entries(__uint_as_float(a.x), __uint_as_float(a.y)));
    }
  }

 private:
  [[nodiscard]] __device__ __forceinline__ std::uint32_t tile_at(std::int32_t tile) const {
    return shared_ + static_cast<std::uint32_t>(tile & 1) * K::kTileBytes;
  }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t ids_at(std::int32_t tile) const {
    return shared_ + K::kIdsAt + static_cast<std::uint32_t>(tile & 1) * K::kIdsBytes;
  }
  [[nodiscard]] __device__ __forceinline__ const Dense* dense_row(std::uint32_t column) const {
    return reinterpret_cast<const Dense*>(b_ + std::uint64_t{column} * task_.ldb_bytes);
  }

  typename K::Decoder decoder_;
  typename Math::Chunk rows_[K::Pipeline::kBuffers][2] = {};  ///< rows of B
  int left_;            ///< features from the first one that the lane loads to n
  const std::byte* b_;  ///< the first feature of row 0 that the lane loads
};

/// One block per item and part of the columns.
template <class K>
__global__ void __launch_bounds__(kMaxAccWarps* kWarpSize) acc_product(const __grid_constant__ AccTask task) {
  follow_previous_kernel();
  const int block = static_cast<int>(blockIdx.x);
  const int warps = static_cast<int>(blockDim.x) / kWarpSize;
  const int warp = __shfl_sync(kFullMask, static_cast<int>(threadIdx.x) / kWarpSize, 0);
  const int slice = block % task.block_slices * warps + warp;
  const TileItem item = task.tiles.items[block / task.block_slices];
  AccBlock<K>(task, item, slice, static_cast<int>(threadIdx.x) % kWarpSize, dynamic_shared())
      .run(slice < task.tiles.slices);
}

}  // namespace sptile::runtime::cuda
