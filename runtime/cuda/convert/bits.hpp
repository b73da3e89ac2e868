// Bits and atomic counters for steps that run on the device and, in tests, on the host.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "runtime/cuda/device/qualifiers.hpp"

namespace sptile::runtime::cuda {

SPTILE_HOST_DEVICE int count_bits(std::uint64_t x) {
#ifdef __CUDA_ARCH__
  return __popcll(x);
#else
  return std::popcount(x);
#endif
}

/// Returns a mask of the bits below a bit.
SPTILE_HOST_DEVICE std::uint64_t below(int bit) { return (std::uint64_t{1} << bit) - 1; }

/// Returns the number of bits for the numbers 0 to `max`; 0 if `max` is negative.
inline int bits_for(std::int64_t max) {
  return max > 0 ? static_cast<int>(std::bit_width(static_cast<std::uint64_t>(max))) : 0;
}

SPTILE_HOST_DEVICE void atomic_or(std::uint64_t* to, std::uint64_t bits) {
#ifdef __CUDA_ARCH__
  atomicOr(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(bits));
#else
  *to |= bits;
#endif
}

/// Returns the previous value.
SPTILE_HOST_DEVICE std::uint32_t atomic_or(std::uint32_t* to, std::uint32_t bits) {
#ifdef __CUDA_ARCH__
  return atomicOr(to, bits);
#else
  const std::uint32_t before = *to;
  *to |= bits;
  return before;
#endif
}

SPTILE_HOST_DEVICE void atomic_add(std::uint64_t* to, std::uint64_t x) {
#ifdef __CUDA_ARCH__
  atomicAdd(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(x));
#else
  *to += x;
#endif
}

/// Returns the previous value.
SPTILE_HOST_DEVICE std::uint32_t atomic_add(std::uint32_t* to, std::uint32_t x) {
#ifdef __CUDA_ARCH__
  return atomicAdd(to, x);
#else
  const std::uint32_t before = *to;
  *to += x;
  return before;
#endif
}

SPTILE_HOST_DEVICE void atomic_min(std::uint64_t* to, std::uint64_t x) {
#ifdef __CUDA_ARCH__
  atomicMin(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(x));
#else
  if (x < *to) *to = x;
#endif
}

SPTILE_HOST_DEVICE void atomic_min(std::uint32_t* to, std::uint32_t x) {
#ifdef __CUDA_ARCH__
  atomicMin(to, x);
#else
  if (x < *to) *to = x;
#endif
}

SPTILE_HOST_DEVICE void atomic_max(std::uint64_t* to, std::uint64_t x) {
#ifdef __CUDA_ARCH__
  atomicMax(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(x));
#else
  if (x > *to) *to = x;
#endif
}

SPTILE_HOST_DEVICE void atomic_max(std::int32_t* to, std::int32_t x) {
#ifdef __CUDA_ARCH__
  atomicMax(to, x);
#else
  if (x > *to) *to = x;
#endif
}

/// Stores x if the value is `expected`; returns the previous value.
SPTILE_HOST_DEVICE std::int32_t atomic_exchange_if(std::int32_t* to, std::int32_t expected, std::int32_t x) {
#ifdef __CUDA_ARCH__
  return atomicCAS(to, expected, x);
#else
  const std::int32_t before = *to;
  if (before == expected) *to = x;
  return before;
#endif
}

/// Sums updated by many threads: spaced copies, which the host adds up.
struct SpreadSums {
  static constexpr int kCopies = 256;

  std::uint64_t* sums = nullptr;  ///< kCopies per sum
  int count = 0;                  ///< number of sums

  [[nodiscard]] std::int64_t size() const { return std::int64_t{kCopies} * count; }
  /// Adds up the copies of one sum, after they were fetched.
  static std::int64_t total(const std::vector<std::uint64_t>& downloaded, int sum) {
    const auto first = downloaded.begin() + std::ptrdiff_t{kCopies} * sum;
    return static_cast<std::int64_t>(std::accumulate(first, first + kCopies, std::uint64_t{0}));
  }
  SPTILE_HOST_DEVICE void add(int sum, std::int64_t who, std::uint64_t x) const {
    atomic_add(sums + sum * kCopies + who % kCopies, x);
  }
};

/// Returns the last i in [0, count) with offset[i] <= x, for ascending offsets.
template <class T, class X>
SPTILE_HOST_DEVICE std::int64_t last_at_most(const T* offset, std::int64_t count, X x) {
  std::int64_t low = 0, high = count;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    if (static_cast<X>(offset[middle]) <= x)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/// Returns the first i in [0, count) with sorted[i] >= x; `count` if there is none.
template <class Sorted, class T>
SPTILE_HOST_DEVICE std::int64_t lower_bound(const Sorted& sorted, std::int64_t count, T x) {
  std::int64_t low = 0;
  while (count > 0) {
    const std::int64_t half = count / 2;
    if (sorted[low + half] < x) {
      low += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return low;
}

}  // namespace sptile::runtime::cuda
