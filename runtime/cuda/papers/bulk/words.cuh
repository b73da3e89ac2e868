// BMat tiles decoded in the registers of each consumer, as in Voltrix-SpMM (USENIX ATC 2025, section 3.1.1).
#pragma once

#include "runtime/cuda/collective/lanes.hpp"
#include "runtime/cuda/collective/mma.cuh"
#include "runtime/cuda/collective/vector.cuh"
#include "runtime/cuda/device/ptx.cuh"
#include "runtime/cuda/families/tile/task.cuh"

namespace sptile::runtime::cuda {

/// Reads the four words of a tile, which a producer copied to the stage, by one load of 128 bits. The lane's
/// bit of each word is one of its elements; the count of lower bits is the position of its value. The values
/// before a tile are counted in a register, so that tiles must be loaded in order. kStale: words may be those
/// of another tile, so that positions are limited to the array of values.
template <class Math, class V, bool kStale = false>
class BulkWords {
 public:
  using Half = typename Math::template Entries<V>;  ///< entries of one 8x8 half of a tile
  static constexpr bool kDecoders = false;
  static constexpr int kTileBytes = 16;  ///< in a stage

  __device__ __forceinline__ explicit BulkWords(const TileTask& task)
      : values_(static_cast<const V*>(task.arrays.values)) {
    if constexpr (kStale && !std::is_same_v<V, Ones>)
      last_ = max(task.arrays.value_bytes / static_cast<std::int64_t>(sizeof(V)) - 1, std::int64_t{0});
  }

  /// Starts at a window whose first value has that position.
  __device__ __forceinline__ void start(std::int64_t value_begin) { value_ = value_begin; }

  __device__ __forceinline__ void load(Half (&half)[2], std::uint32_t tile, int lane) {
    const uint4 words = shared_piece(tile);
    const std::uint32_t word[4] = {words.x, words.y, words.z, words.w};
    const std::uint32_t bit = 1u << lane;
    if constexpr (std::is_same_v<V, Ones>) {
#pragma unroll
      for (int h = 0; h < 2; ++h)
        half[h] = Math::template ones<V>(word_present(word[h], bit), word_present(word[h + 2], bit));
    } else {
      V value[4];
      std::uint32_t before = 0;
#pragma unroll
      for (int w = 0; w < 4; ++w) {
        value[w] = value_at(before + word_index(word[w], bit), word_present(word[w], bit));
        before += count_bits(word[w]);
      }
      value_ += before;
#pragma unroll
      for (int h = 0; h < 2; ++h) half[h] = Math::entries(value[h], value[h + 2]);
    }
  }

 private:
  [[nodiscard]] __device__ __forceinline__ V value_at(std::uint32_t index, bool present) const {
    if constexpr (kStale)
      return value_if(values_ + min(value_ + index, last_), 0, present);
    else
      return value_if(values_ + value_, index, present);
  }

  const V* values_;
  std::int64_t value_ = 0;  ///< first value of the next tile
  std::int64_t last_ = 0;   ///< position of the last value, if kStale
};

}  // namespace sptile::runtime::cuda
