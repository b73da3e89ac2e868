// Vector access to global memory: loads and stores of a lane's adjacent elements, as vectors of up to 16
// bytes if operands are aligned and element by element otherwise.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/cuda/collective/mma.cuh"
#include "runtime/cuda/device/qualifiers.hpp"

namespace sptile::runtime::cuda {

/// N adjacent elements, with the alignment of one vector access.
template <class T, int N>
struct alignas(sizeof(T) * N) Vec {
  T e[N];
};

/// Cache policy of an access.
enum class Cache {
  read_only,     ///< loads: data that no kernel writes meanwhile, cached in L1 and L2
  l2,            ///< L2 alone: data that another warp has written, or will read
  streaming,     ///< evicted first: data that is not accessed again soon
  write_through  ///< stores: through L2 to memory
};

/// Type of an access of kBytes bytes.
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

template <Cache kCache, class W>
__device__ __forceinline__ W load_cached(const W* from) {
  static_assert(kCache != Cache::write_through);
  if constexpr (kCache == Cache::read_only)
    return __ldg(from);
  else if constexpr (kCache == Cache::l2)
    return __ldcg(from);
  else
    return __ldcs(from);
}

template <Cache kCache, class W>
__device__ __forceinline__ void store_cached(W* to, W word) {
  static_assert(kCache != Cache::read_only);
  if constexpr (kCache == Cache::l2)
    __stcg(to, word);
  else if constexpr (kCache == Cache::streaming)
    __stcs(to, word);
  else
    __stwt(to, word);
}

/// Loads a trivially copyable V of 4 or 8 bytes or a multiple of 16, aligned to its size or to 16 bytes.
template <class V, Cache kCache = Cache::read_only>
__device__ __forceinline__ V load_vector(const void* from) {
  constexpr int kBytes = sizeof(V) < 16 ? sizeof(V) : 16;
  using W = typename Word<kBytes>::type;
  V v;
#pragma unroll
  for (int i = 0; i < static_cast<int>(sizeof(V)) / kBytes; ++i) {
    const W word = load_cached<kCache>(static_cast<const W*>(from) + i);
    __builtin_memcpy(reinterpret_cast<std::byte*>(&v) + kBytes * i, &word, sizeof word);
  }
  return v;
}

/// Stores such a V.
template <Cache kCache, class V>
__device__ __forceinline__ void store_vector(void* to, const V& v) {
  constexpr int kBytes = sizeof(V) < 16 ? sizeof(V) : 16;
  using W = typename Word<kBytes>::type;
#pragma unroll
  for (int i = 0; i < static_cast<int>(sizeof(V)) / kBytes; ++i) {
    W word;
    __builtin_memcpy(&word, reinterpret_cast<const std::byte*>(&v) + kBytes * i, sizeof word);
    store_cached<kCache>(static_cast<W*>(to) + i, word);
  }
}

/// Loads the first `left` elements of a chunk, which may be negative or more than it has. The others keep
/// their values. kVector: the chunk is aligned and has either all elements or none.
template <bool kVector, class Dense, class Chunk>
__device__ __forceinline__ void load_chunk(Chunk& chunk, const Dense* from, int left) {
  if constexpr (kVector) {
    if (left > 0) chunk = load_vector<Chunk>(from);
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

/// Loads element `index` of an array of V that no kernel writes meanwhile.
template <class V>
__device__ __forceinline__ V load_number(const void* from, std::int64_t index) {
  if constexpr (sizeof(V) == 2)
    return {__ldg(static_cast<const unsigned short*>(from) + index)};
  else
    return __ldg(static_cast<const V*>(from) + index);
}

/// Loads a stored value if it is present, else returns zero.
template <class V>
__device__ __forceinline__ V value_if(const V* values, std::uint32_t index, bool present) {
  if constexpr (sizeof(V) == 2)
    return {present ? __ldg(reinterpret_cast<const unsigned short*>(values) + index)
                    : static_cast<unsigned short>(0)};
  else
    return present ? __ldg(values + index) : V{0};
}

/// Loads a stored value, widened; a value of a pattern is 1.
template <class V, class Acc>
__device__ __forceinline__ Acc value_at(const void* values, std::int64_t index) {
  if constexpr (std::is_same_v<V, Ones>)
    return Acc{1};
  else
    return widen(load_number<V>(values, index));
}

/// alpha and beta in the accumulator type.
template <class Acc>
struct Scale {
  Acc alpha, beta;
};

/// Stores alpha * sum + beta * C for kElements adjacent elements, as one vector.
template <int kElements, Cache kCache, class Result, class Acc>
__device__ __forceinline__ void store_whole(Result* to, const Acc* sum, Scale<Acc> scale) {
  Vec<Result, kElements> vec;
  if (scale.beta != Acc{0}) {
    const auto old = *reinterpret_cast<const Vec<Result, kElements>*>(to);
#pragma unroll
    for (int e = 0; e < kElements; ++e)
      vec.e[e] = narrow<Result>(scale.alpha * sum[e] + scale.beta * widen(old.e[e]));
  } else {
#pragma unroll
    for (int e = 0; e < kElements; ++e) vec.e[e] = narrow<Result>(scale.alpha * sum[e]);
  }
  store_vector<kCache>(to, vec);
}

/// Returns the elements of C per vector if a lane has `elements`: at most 16 bytes.
template <class Result>
SPTILE_HOST_DEVICE constexpr int whole_elements(int elements) {
  constexpr int kMax = 16 / static_cast<int>(sizeof(Result));
  return elements < kMax ? elements : kMax;
}

/// Stores alpha * sum + beta * C for the first `left` of kElements adjacent elements. C is streamed by
/// default: it is not read again soon, and B is worth more in L2. kVector as in load_chunk.
template <bool kVector, Cache kCache = Cache::streaming, class Result, class Acc, int kElements>
__device__ __forceinline__ void store_piece(Result* to, const Acc (&sum)[kElements], Scale<Acc> scale,
                                            int left) {
  if constexpr (kVector) {
    constexpr int kWhole = whole_elements<Result>(kElements);
    if (left <= 0) return;
#pragma unroll
    for (int first = 0; first < kElements; first += kWhole)
      store_whole<kWhole, kCache>(to + first, sum + first, scale);
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
