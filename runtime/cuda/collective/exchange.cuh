// Exchange of values of several words between the lanes of a warp.
#pragma once

#include <cstdint>

#include "runtime/cuda/collective/warp.cuh"

namespace sptile::runtime::cuda {

/// Returns the x of lane `source`. T is trivially copyable and consists of 4-byte words. Every lane of the
/// warp must call it.
template <class T>
__device__ __forceinline__ T shuffle_words(const T& x, int source) {
  static_assert(sizeof(T) % sizeof(std::uint32_t) == 0);
  constexpr int kWords = sizeof(T) / sizeof(std::uint32_t);
  std::uint32_t word[kWords];
  __builtin_memcpy(word, &x, sizeof x);
#pragma unroll
  for (int i = 0; i < kWords; ++i) word[i] = __shfl_sync(kFullMask, word[i], source);
  T other;
  __builtin_memcpy(&other, word, sizeof other);
  return other;
}

}  // namespace sptile::runtime::cuda
