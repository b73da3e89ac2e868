// Loads and stores of a lane's consecutive features: in one piece where the operands are aligned, else one by
// one.
#pragma once

#include <cstdint>

#include "runtime/cuda/device/qualifiers.hpp"
#include "runtime/cuda/families/tile/math.cuh"

namespace sptile::runtime::cuda {

template <int kBytes>
struct Word;
template <>
struct Word<4> {
  using type = std::uint32_t;
};
template <>
struct Word<8> {
  using type = uint2;
};
template <>
struct Word<16> {
  using type = uint4;
};

/// Reads the features of a chunk that exist (`left` of them, perhaps negative); the others keep what they
/// hold.
template <bool kVector, class Dense, class Chunk>
__device__ __forceinline__ void load_chunk(Chunk& chunk, const Dense* from, int left) {
  if constexpr (kVector) {
    using W = typename Word<sizeof(Chunk)>::type;
    if (left > 0) {
      const W w = __ldg(reinterpret_cast<const W*>(from));
      __builtin_memcpy(&chunk, &w, sizeof w);
    }
  } else {
    constexpr int kElements = sizeof(Chunk) / sizeof(Dense);
#pragma unroll
    for (int e = 0; e < kElements; ++e) {
      if (e >= left) continue;
      if constexpr (sizeof(Dense) == 2) {
        const std::uint32_t h = __ldg(reinterpret_cast<const unsigned short*>(from) + e);
        chunk.w[e / 2] =
            e % 2 == 0 ? __byte_perm(chunk.w[e / 2], h, 0x3254) : __byte_perm(chunk.w[e / 2], h, 0x5410);
      } else {
        chunk.e[e] = __ldg(from + e);
      }
    }
  }
}

/// Reads a stored value if it is there, else gives 0.
template <class V>
__device__ __forceinline__ V value_if(const V* values, std::uint32_t index, bool present) {
  if constexpr (sizeof(V) == 2)
    return {present ? __ldg(reinterpret_cast<const unsigned short*>(values) + index)
                    : static_cast<unsigned short>(0)};
  else
    return present ? __ldg(values + index) : V{0};
}

/// Reads a stored value as a factor of sums.
template <class V, class Acc>
__device__ __forceinline__ Acc value_at(const void* values, std::int64_t index) {
  if constexpr (std::is_same_v<V, Ones>)
    return Acc{1};
  else if constexpr (sizeof(V) == 2)
    return widen(V{__ldg(static_cast<const unsigned short*>(values) + index)});
  else
    return widen(__ldg(static_cast<const V*>(values) + index));
}

/// Element e of a chunk as a factor of sums.
template <class Math>
__device__ __forceinline__ typename Math::Acc chunk_at(const typename Math::Chunk& chunk, int e) {
  using Dense = typename Math::Dense;
  if constexpr (sizeof(Dense) == 2)
    return widen(Dense{static_cast<std::uint16_t>(chunk.w[e / 2] >> (16 * (e % 2)))});
  else
    return chunk.e[e];
}

/// alpha and beta in the type of the sums.
template <class Acc>
struct Scale {
  Acc alpha, beta;
};

/// Consecutive elements of a row of C as they lie in memory.
template <class Dense, int kElements>
struct alignas(sizeof(Dense) * kElements) RowPiece {
  Dense e[kElements];
};

/// Writes what another warp reads by load_written.
template <class Piece>
__device__ __forceinline__ void store_for_others(Piece* to, const Piece& piece) {
  static_assert(sizeof(Piece) % 16 == 0);
#pragma unroll
  for (int i = 0; i < static_cast<int>(sizeof(Piece) / 16); ++i) {
    uint4 bits;
    __builtin_memcpy(&bits, reinterpret_cast<const std::byte*>(&piece) + 16 * i, sizeof bits);
    __stcg(reinterpret_cast<uint4*>(to) + i, bits);
  }
}

/// Reads what another warp has written: past the first cache, which may hold what was there before.
template <class Piece>
__device__ __forceinline__ Piece load_written(const Piece* from) {
  Piece piece;
#pragma unroll
  for (int i = 0; i < static_cast<int>(sizeof(Piece) / 16); ++i) {
    const uint4 bits = __ldcg(reinterpret_cast<const uint4*>(from) + i);
    __builtin_memcpy(reinterpret_cast<std::byte*>(&piece) + 16 * i, &bits, sizeof bits);
  }
  return piece;
}

/// How pieces of C are put where they belong: C is written once and not read again soon, so it should be the
/// first to leave the cache.
struct StreamingPut {
  template <class W>
  static __device__ __forceinline__ void put(W* to, W w) {
    __stcs(to, w);
  }
};

/// Writes alpha * sum + beta * C for some elements at once.
template <int kElements, class Put = StreamingPut, class Result, class Acc>
__device__ __forceinline__ void store_whole(Result* to, const Acc* sum, Scale<Acc> scale) {
  using Piece = RowPiece<Result, kElements>;
  using W = typename Word<sizeof(Piece)>::type;
  Piece piece;
  if (scale.beta != Acc{0}) {
    const Piece old = *reinterpret_cast<const Piece*>(to);
#pragma unroll
    for (int e = 0; e < kElements; ++e)
      piece.e[e] = narrow<Result>(scale.alpha * sum[e] + scale.beta * widen(old.e[e]));
  } else {
#pragma unroll
    for (int e = 0; e < kElements; ++e) piece.e[e] = narrow<Result>(scale.alpha * sum[e]);
  }
  W w;
  __builtin_memcpy(&w, &piece, sizeof w);
  Put::put(reinterpret_cast<W*>(to), w);
}

/// Elements of C that are moved at once: those of a lane, in 16 bytes at most.
template <class Result>
SPTILE_HOST_DEVICE constexpr int whole_elements(int elements) {
  const int most = 16 / static_cast<int>(sizeof(Result));
  return elements < most ? elements : most;
}

/// Writes alpha * sum + beta * C for the features that exist.
template <bool kVector, class Put = StreamingPut, class Result, class Acc, int kElements>
__device__ __forceinline__ void store_piece(Result* to, const Acc (&sum)[kElements], Scale<Acc> scale,
                                            int left) {
  if constexpr (kVector) {
    constexpr int kWhole = whole_elements<Result>(kElements);
    if (left <= 0) return;
#pragma unroll
    for (int first = 0; first < kElements; first += kWhole)
      store_whole<kWhole, Put>(to + first, sum + first, scale);
  } else {
#pragma unroll
    for (int e = 0; e < kElements; ++e) {
      if (e >= left) continue;
      const Acc scaled = scale.alpha * sum[e];
      to[e] = narrow<Result>(scale.beta != Acc{0} ? scaled + scale.beta * widen(to[e]) : scaled);
    }
  }
}

}  // namespace sptile::runtime::cuda
