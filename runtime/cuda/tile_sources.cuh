// The tiles of each layout as the skeleton sees them: what to load, and where a lane's entries are.
#pragma once

#include <cstdint>

#include "runtime/cuda/ptx.cuh"
#include "runtime/cuda/tile_lanes.hpp"

namespace sptile::runtime::cuda {

/// Arrays of a format, in device memory.
struct TileArrays {
  const std::int32_t* columns;  ///< 8 per tile
  const void* masks;            ///< 8 or 16 bytes per tile
  const void* values;
};

/// A lane's entries: two for each 8 rows of the window.
template <int kHalves>
struct TilePairs {
  LanePair half[kHalves];
  std::uint32_t count;  ///< entries of the tile
};

/// What a lane keeps for tiles with row-major masks. `loads_for` is the lane whose B rows it loads.
struct MaskLane {
  const int2* column;  ///< of the first tile
  const void* masks;
  LanePrefix prefix;

  __device__ __forceinline__ MaskLane(const TileArrays& a, int lane, int loads_for)
      : column(reinterpret_cast<const int2*>(a.columns) + lane_member(loads_for)),
        masks(a.masks),
        prefix(lane_prefix(lane)) {
    keep(column);
    keep(masks);
    keep(prefix.low);
    keep(prefix.high);
    keep(prefix.shift);
  }
};

/// 8x8 tiles, mask bit 8 * row + column: bittcf, and the TC part of rs_tile.
struct Mask8 {
  static constexpr int kHalves = 1;
  using Lane = MaskLane;
  struct Raw {
    int2 column;
    uint2 mask;
  };
  static __device__ __forceinline__ Raw load(std::int32_t tile, const Lane& lane) {
    return {__ldg(lane.column + std::int64_t{tile} * 4), __ldg(static_cast<const uint2*>(lane.masks) + tile)};
  }
  static __device__ __forceinline__ TilePairs<1> pairs(const Raw& raw, const Lane& lane, bool there) {
    const std::uint32_t low = there ? raw.mask.x : 0, high = there ? raw.mask.y : 0;
    return {{row_major_pair(low, high, lane.prefix)}, count_bits(low) + count_bits(high)};
  }
};

/// 16x8 tiles, mask bit 8 * row + column, two 8x8 halves one after the other: me_tcf, its ids turned into
/// masks.
struct Mask16 {
  static constexpr int kHalves = 2;
  using Lane = MaskLane;
  struct Raw {
    int2 column;
    uint4 mask;
  };
  static __device__ __forceinline__ Raw load(std::int32_t tile, const Lane& lane) {
    return {__ldg(lane.column + std::int64_t{tile} * 4), __ldg(static_cast<const uint4*>(lane.masks) + tile)};
  }
  static __device__ __forceinline__ TilePairs<2> pairs(const Raw& raw, const Lane& lane, bool there) {
    const uint4 mask = there ? raw.mask : uint4{0, 0, 0, 0};
    TilePairs<2> p{{row_major_pair(mask.x, mask.y, lane.prefix), row_major_pair(mask.z, mask.w, lane.prefix)},
                   0};
    const std::uint32_t upper = count_bits(mask.x) + count_bits(mask.y);
    p.half[1].index[0] += upper;
    p.half[1].index[1] += upper;
    p.count = upper + count_bits(mask.z) + count_bits(mask.w);
    return p;
  }
};

/// 16x8 tiles as four 8x4 words: bmat. The values are word by word: left upper, left lower, right upper,
/// right lower.
struct Words16 {
  static constexpr int kHalves = 2;
  struct Lane {
    const std::int32_t* column;
    const uint4* words;
    std::uint32_t bit;

    __device__ __forceinline__ Lane(const TileArrays& a, int lane, int loads_for)
        : column(a.columns + word_column(loads_for, 0)),
          words(static_cast<const uint4*>(a.masks)),
          bit(1u << lane) {
      keep(column);
      keep(words);
      keep(bit);
    }
  };
  struct Raw {
    int2 column;
    uint4 word;
  };
  static __device__ __forceinline__ Raw load(std::int32_t tile, const Lane& lane) {
    const std::int32_t* ids = lane.column + std::int64_t{tile} * 8;
    return {{__ldg(ids), __ldg(ids + word_column(0, 1))}, __ldg(lane.words + tile)};
  }
  static __device__ __forceinline__ TilePairs<2> pairs(const Raw& raw, const Lane& lane, bool there) {
    const uint4 words = there ? raw.word : uint4{0, 0, 0, 0};
    const std::uint32_t word[4] = {words.x, words.y, words.z, words.w};
    TilePairs<2> p{};
    p.count = 0;
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      p.half[w % 2].present[w / 2] = word_present(word[w], lane.bit);
      p.half[w % 2].index[w / 2] = p.count + word_index(word[w], lane.bit);
      p.count += count_bits(word[w]);
    }
    return p;
  }
};

}  // namespace sptile::runtime::cuda
