// Decoded tiles between decoder and consumers: the operands of each lane, ordered by lane, so that a warp
// accesses complete rows of banks.
#pragma once

#include "runtime/cuda/collective/lanes.hpp"
#include "runtime/cuda/collective/mma.cuh"
#include "runtime/cuda/device/ptx.cuh"
#include "runtime/cuda/families/tile/task.cuh"

namespace sptile::runtime::cuda {

/// A lane's words of both halves.
template <class Math, class V>
class BulkEntries {
 public:
  using Half = typename Math::template Entries<V>;  ///< entries of one 8x8 half of a tile

 private:
  static constexpr bool kPair = requires(Half h) { h.pair; };  ///< two 16-bit numbers
  static constexpr bool kWide = requires(Half h) { h.v[0]; };  ///< two doubles
  /// Words of the rounding errors of values in tf32.
  static constexpr int kSmallWords = std::is_same_v<Math, MathF32<true>> && std::is_same_v<V, float> ? 4 : 0;

 public:
  static constexpr int kWords = kPair ? 2 : kWide ? 8 : 4 + kSmallWords;
  static constexpr int kTileBytes = kWarpSize * 4 * kWords;
  static constexpr bool kDecoders = true;

  __device__ __forceinline__ explicit BulkEntries(const TileTask& /*task*/) {}
  __device__ __forceinline__ void start(std::int64_t /*value_begin*/) {}

  static __device__ __forceinline__ void store(std::uint32_t tile, int lane, const Half (&half)[2]) {
    std::uint32_t w[kWords];
    if constexpr (kPair) {
      w[0] = half[0].pair;
      w[1] = half[1].pair;
    } else if constexpr (kWide) {
      __builtin_memcpy(w, half, sizeof w);
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        w[i] = half[i / 2].big[i % 2];
        if constexpr (kSmallWords > 0) w[4 + i] = half[i / 2].small[i % 2];
      }
    }
    if constexpr (kWords == 2)
      store_pair(at(tile, lane, 0), {w[0], w[1]});
    else
#pragma unroll
      for (int p = 0; p < kWords / 4; ++p)
        store_piece_16(at(tile, lane, p), {w[4 * p], w[4 * p + 1], w[4 * p + 2], w[4 * p + 3]});
  }

  static __device__ __forceinline__ void load(Half (&half)[2], std::uint32_t tile, int lane) {
    if constexpr (kWords == 2) {
      const uint2 w = shared_pair(at(tile, lane, 0));
      half[0].pair = w.x;
      half[1].pair = w.y;
    } else {
      std::uint32_t w[kWords];
#pragma unroll
      for (int p = 0; p < kWords / 4; ++p) {
        const uint4 x = shared_piece(at(tile, lane, p));
        __builtin_memcpy(w + 4 * p, &x, sizeof x);
      }
      if constexpr (kWide) {
        __builtin_memcpy(half, w, sizeof w);
      } else {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          half[i / 2].big[i % 2] = w[i];
          if constexpr (kSmallWords > 0) half[i / 2].small[i % 2] = w[4 + i];
        }
      }
    }
  }

 private:
  /// Returns the address of the lane's words of plane p.
  static __device__ __forceinline__ std::uint32_t at(std::uint32_t tile, int lane, int p) {
    constexpr int kBytes = kWords == 2 ? 8 : 16;
    return tile + static_cast<std::uint32_t>((p * kWarpSize + lane) * kBytes);
  }
};

}  // namespace sptile::runtime::cuda
