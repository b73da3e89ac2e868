// Counter-based random numbers: draw k of a stream depends only on the seed, the stream's number and k.
// Parallel loops therefore give the same result for any number of threads.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace sptile {

/// Mixes 64 bits with the finalizer of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom
/// number generators", OOPSLA 2014). A bijection in which every input bit affects every output bit.
constexpr std::uint64_t mix_bits(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return x ^ x >> 31;
}

/// An independent sequence per (seed, number): SplitMix64 with a mixed starting state. It has 8 bytes and is
/// cheap to construct; loops create one per row or per edge.
class RandomStream {
 public:
  constexpr explicit RandomStream(std::uint64_t seed, std::uint64_t number = 0)
      : state_(mix_bits(mix_bits(seed + kStep) + number * kStep)) {}

  constexpr std::uint64_t next() { return mix_bits(state_ += kStep); }

  /// Draws from 0..bound-1, for bound >= 1. The bias is below bound / 2^64.
  constexpr std::int64_t below(std::int64_t bound) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::int64_t>(static_cast<Wide>(next()) * static_cast<std::uint64_t>(bound) >> 64);
  }

  /// Draws a multiple of 2^-53 from [0, 1).
  constexpr double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

  /// Draws an odd multiple of 2^-24 from (-1, 1): never 0, symmetric, and exact in a float.
  constexpr float signed_unit() {
    const std::uint64_t bits = next();
    const float magnitude = static_cast<float>(bits >> 40 | 1u) * 0x1p-24f;
    return (bits & 1u) != 0 ? -magnitude : magnitude;
  }

 private:
  static constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15ull;
  std::uint64_t state_;
};

/// Returns a random permutation of 0..n-1 (Fisher-Yates). O(n), serial.
inline std::vector<std::int32_t> random_permutation(std::int64_t n, RandomStream stream) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  for (std::int64_t i = n - 1; i > 0; --i)
    std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(stream.below(i + 1))]);
  return order;
}

}  // namespace sptile
