// Masks of the tiles of each layout: the positions of a lane's nonzeros among the values of a tile, and the
// rows of B that a member of a group multiplies.
#pragma once

#include <cstdint>

#include "runtime/cuda/collective/lanes.hpp"
#include "runtime/cuda/device/ptx.cuh"

namespace sptile::runtime::cuda {

/// Arrays of a format, in device memory.
struct TileArrays {
  const std::int32_t* columns;  ///< 8 per tile
  const void* masks;            ///< 8 or 16 bytes per tile
  const void* values;
  std::int64_t value_bytes;
};

/// A lane's nonzeros: two per 8 rows of the window.
template <int kHalves>
struct TilePairs {
  LanePair half[kHalves];
  std::uint32_t count;  ///< nonzeros of the tile
};

/// Masks with bit 8 * row + column. The two rows of B of a lane have adjacent ids.
struct RowMajor {
  using Prefix = LanePrefix;
  static constexpr int kApart = 1;  ///< distance of a member's two rows of B in the ids of a tile
  static __device__ __forceinline__ Prefix prefix(int lane) {
    Prefix p = lane_prefix(lane);
    keep(p.low);
    keep(p.high);
    keep(p.shift);
    return p;
  }
  /// Returns the index of a member's first row of B among the ids of a tile.
  static __device__ __forceinline__ int place(int member) { return 2 * member; }
};

/// 8x8 tiles: bittcf, and the TC part of rs_tile.
struct Mask8 : RowMajor {
  static constexpr int kHalves = 1;
  using Mask = uint2;
  static __device__ __forceinline__ TilePairs<1> pairs(const Mask& mask, const Prefix& prefix) {
    return {{row_major_pair(mask.x, mask.y, prefix)}, count_bits(mask.x) + count_bits(mask.y)};
  }
};

/// 16x8 tiles, two 8x8 halves: me_tcf, with masks made from its ids.
struct Mask16 : RowMajor {
  static constexpr int kHalves = 2;
  using Mask = uint4;
  static __device__ __forceinline__ TilePairs<2> pairs(const Mask& mask, const Prefix& prefix) {
    TilePairs<2> p{{row_major_pair(mask.x, mask.y, prefix), row_major_pair(mask.z, mask.w, prefix)}, 0};
    const std::uint32_t upper = count_bits(mask.x) + count_bits(mask.y);
    p.half[1].index[0] += upper;
    p.half[1].index[1] += upper;
    p.count = upper + count_bits(mask.z) + count_bits(mask.w);
    return p;
  }
};

/// 16x8 tiles as four 8x4 words: bmat. Values are in the order of words: left upper, left lower, right upper,
/// right lower.
struct Words16 {
  static constexpr int kHalves = 2, kApart = 4;
  using Mask = uint4;
  struct Prefix {
    std::uint32_t bit;
  };
  static __device__ __forceinline__ Prefix prefix(int lane) {
    Prefix p{1u << lane};
    keep(p.bit);
    return p;
  }
  static __device__ __forceinline__ int place(int member) { return word_column(member, 0); }
  static __device__ __forceinline__ TilePairs<2> pairs(const Mask& mask, const Prefix& prefix) {
    const std::uint32_t word[4] = {mask.x, mask.y, mask.z, mask.w};
    TilePairs<2> p{};
    p.count = 0;
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      p.half[w % 2].present[w / 2] = word_present(word[w], prefix.bit);
      p.half[w % 2].index[w / 2] = p.count + word_index(word[w], prefix.bit);
      p.count += count_bits(word[w]);
    }
    return p;
  }
};

}  // namespace sptile::runtime::cuda
