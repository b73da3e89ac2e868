// Decoders of sparse tiles: they write the values of a tile, and zeros elsewhere, to shared memory, row by
// row. Two warps decode a tile (Acc-SpMM, PPoPP 2025, section 3.3). The mask, or the ids, of a tile are
// loaded to registers while the previous tile is decoded.
#pragma once

#include <cstdint>
#include <type_traits>

#include "runtime/cuda/collective/tile_masks.cuh"
#include "runtime/cuda/families/tile/task.cuh"

namespace sptile::runtime::cuda {

/// Threads that decode a tile: the first ones of the block.
inline constexpr int kDecodingThreads = 64;

/// Kernel parameters.
struct AccTask {
  TileTask tiles;
  const std::uint32_t* tile_value;  ///< first value of each tile, and the end
  const std::uint8_t* local_ids;    ///< me_tcf: position of each value in its tile
  std::int32_t block_slices;        ///< parts of the columns of B, one per block
};

/// Starts to copy a value to shared memory if `there`; a value of a pattern is 1.
template <class V>
__device__ __forceinline__ void copy_value(bool there, std::uint32_t to, const void* values,
                                           std::uint32_t index) {
  if constexpr (std::is_same_v<V, Ones>) {
    if (there) store_word(to, __float_as_uint(1.0f));
  } else {
    copy_if<sizeof(V)>(there, to, static_cast<const V*>(values) + index);
  }
}

/// Decodes bittcf: each thread has one position of the tile, whose value it copies if its bit is set.
template <class V>
class BitTcfDecoder {
 public:
  using Source = Mask8;

  __device__ __forceinline__ explicit BitTcfDecoder(const AccTask& task)
      : task_(task), decodes_(threadIdx.x < kDecodingThreads) {
    const auto position = static_cast<int>(threadIdx.x) % kDecodingThreads;
    at_ = static_cast<std::uint32_t>(position) * sizeof(float);
    upper_ = position >= 32;
    bit_ = 1u << position % 32;
  }

  /// Loads the mask of the first of tiles [begin, end).
  __device__ __forceinline__ void start(std::int32_t begin, std::int32_t end) {
    last_ = end - 1;
    load(begin);
  }

  /// Starts to write a tile, and loads the mask of the next one. Called for all tiles in order.
  __device__ __forceinline__ void decode(std::int32_t tile, std::uint32_t to) {
    const std::uint32_t half = upper_ ? mask_.y : mask_.x;
    const std::uint32_t before = count_bits(half & (bit_ - 1)) + (upper_ ? count_bits(mask_.x) : 0);
    const bool present = (half & bit_) != 0;
    copy_value<V>(decodes_ && present, to + at_, task_.tiles.arrays.values, value_ + before);
    if (decodes_ && !present) store_word(to + at_, 0);
    load(min(tile + 1, last_));
  }

 private:
  __device__ __forceinline__ void load(std::int32_t tile) {
    mask_ = __ldg(static_cast<const uint2*>(task_.tiles.arrays.masks) + tile);
    value_ = __ldg(task_.tile_value + tile);
  }

  const AccTask& task_;
  std::int32_t last_ = 0;
  bool decodes_, upper_;
  std::uint32_t at_;   ///< offset of the position of the thread
  std::uint32_t bit_;  ///< bit of the thread in its half of the mask
  uint2 mask_ = {};
  std::uint32_t value_ = 0;  ///< first value of the tile
};

/// Decodes me_tcf by its TCLocalId, as DTC-SpMM (ASPLOS 2024): each of the two warps clears 8 rows of the
/// tile and then copies the values whose ids are in them.
template <class V>
class MeTcfDecoder {
 public:
  using Source = Mask16;

  __device__ __forceinline__ explicit MeTcfDecoder(const AccTask& task)
      : task_(task),
        half_(static_cast<int>(threadIdx.x) / kWarpSize),
        lane_(static_cast<int>(threadIdx.x) % kWarpSize),
        decodes_(threadIdx.x < kDecodingThreads) {}

  /// Loads the ids of the first of tiles [begin, end).
  __device__ __forceinline__ void start(std::int32_t begin, std::int32_t end) {
    end_ = end;
    value_ = __ldg(task_.tile_value + begin);
    value_end_ = __ldg(task_.tile_value + begin + 1);
    load(begin);
  }

  /// Starts to write a tile, and loads the ids of the next one. Called for all tiles in order.
  __device__ __forceinline__ void decode(std::int32_t tile, std::uint32_t to) {
    if (decodes_) store_pair(to + static_cast<std::uint32_t>(half_ * kHalfBytes + 8 * lane_), uint2{0, 0});
    __syncwarp();  // another lane may have cleared the position of a value
#pragma unroll
    for (int i = 0; i < kIds; ++i)
      copy_value<V>(id_[i] / 64 == static_cast<std::uint32_t>(half_), to + id_[i] * sizeof(float),
                    task_.tiles.arrays.values, index(i));
    value_ = value_end_;
    value_end_ = next_end_;
    load(tile + 1);
  }

 private:
  static constexpr int kHalfBytes = 64 * sizeof(float);
  static constexpr int kIds = 128 / kWarpSize;  ///< per lane; a tile has at most 128
  static constexpr std::uint32_t kNone = ~63u;  ///< an id in no half

  [[nodiscard]] __device__ __forceinline__ std::uint32_t index(int i) const {
    return value_ + static_cast<std::uint32_t>(lane_ + kWarpSize * i);
  }
  /// Loads the ids of a tile whose values are [value_, value_end_), and the end of the next one.
  __device__ __forceinline__ void load(std::int32_t tile) {
#pragma unroll
    for (int i = 0; i < kIds; ++i)
      id_[i] = decodes_ && index(i) < value_end_ ? std::uint32_t{__ldg(task_.local_ids + index(i))} : kNone;
    next_end_ = __ldg(task_.tile_value + min(tile + 2, end_));
  }

  const AccTask& task_;
  std::int32_t end_ = 0;
  int half_, lane_;  ///< `half_`: of the tile, which the warp decodes
  bool decodes_;
  /// Values of the next tile to decode, and the end of those of the tile after it.
  std::uint32_t value_ = 0, value_end_ = 0, next_end_ = 0;
  std::uint32_t id_[kIds] = {};
};

}  // namespace sptile::runtime::cuda
