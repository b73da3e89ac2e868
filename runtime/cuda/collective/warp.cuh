// Reductions over the lanes of a warp. All functions contain warp shuffles: every lane of the warp must call
// them. Results do not depend on timing, and each function states its order of additions, since that order
// decides the bits of the result.
#pragma once

#include "runtime/cuda/collective/lanes.hpp"

namespace sptile::runtime::cuda {

/// Mask of all lanes of a warp.
inline constexpr unsigned kFullMask = ~0u;

/// Binary operators of reductions.
struct Plus {
  template <class T>
  __device__ __forceinline__ T operator()(T x, T y) const {
    return x + y;
  }
};
struct Maximum {
  template <class T>
  __device__ __forceinline__ T operator()(T x, T y) const {
    return x > y ? x : y;
  }
};
/// Ignores NaN if the other operand is a number.
struct MaximumNumber {
  __device__ __forceinline__ float operator()(float x, float y) const { return fmaxf(x, y); }
};

/// Order of the steps of a butterfly reduction: lanes at distance 1 first, or the most distant lanes first.
enum class Butterfly { kNearFirst, kFarFirst };

/// Reduces x over groups of kLanes lanes, a power of two, whose numbers differ by multiples of kStride.
/// Returns the result to every lane. log2(kLanes) shuffles.
template <int kLanes, Butterfly kOrder = Butterfly::kFarFirst, int kStride = 1, class T, class Combine = Plus>
__device__ __forceinline__ T reduce_lanes(T x, Combine combine = {}) {
#pragma unroll
  for (int step = 1; step < kLanes; step *= 2) {
    const int distance = kOrder == Butterfly::kNearFirst ? step : kLanes / 2 / step;
    x = combine(x, __shfl_xor_sync(kFullMask, x, distance * kStride));
  }
  return x;
}

/// Step of a transposing reduction: the lane keeps one of its two numbers, sends the second to the lane at
/// `distance`, and returns the kept number plus the received one. `upper` says whether the lane keeps `high`;
/// it must differ between the two lanes.
template <class T>
__device__ __forceinline__ T exchange_add(T low, T high, bool upper, int distance) {
  const T keep = upper ? high : low, send = upper ? low : high;
  return keep + __shfl_xor_sync(kFullMask, send, distance);
}

/// Reduces kCount numbers of each lane over kCount / kKept lanes and leaves each lane with kKept of the sums,
/// x[0] to x[kKept - 1], from index transposed_first() on. Takes kCount - kKept shuffles instead of
/// kCount * log2(kCount / kKept).
template <Butterfly kOrder, int kKept = 1, int kCount, class T>
__device__ __forceinline__ void reduce_transposed(T (&x)[kCount], int lane) {
#pragma unroll
  for (int half = kCount / 2; half >= kKept; half /= 2) {
    const int distance = kOrder == Butterfly::kNearFirst ? kCount / 2 / half : half / kKept;
    const bool upper = (lane & distance) != 0;
#pragma unroll
    for (int i = 0; i < half; ++i) {
      const T keep = upper ? x[i + half] : x[i], send = upper ? x[i] : x[i + half];
      x[i] = keep + __shfl_xor_sync(kFullMask, send, distance);
    }
  }
}

/// Returns the index of the first sum that reduce_transposed leaves in a lane if it starts with the nearest
/// lanes: the bits of the lane number in reverse order. With the most distant lanes first, the index is
/// lane % (kCount / kKept) * kKept.
template <int kCount, int kKept = 1>
__device__ __forceinline__ int transposed_first(int lane) {
  int first = 0;
#pragma unroll
  for (int half = kCount / 2; half >= kKept; half /= 2)
    if ((lane & kCount / 2 / half) != 0) first += half;
  return first;
}

/// Reduces kCount numbers of each lane over groups of kLanes lanes and returns every sum to every lane.
/// kCount is a power of two. Nearest lanes first.
template <int kLanes, int kCount, class T>
__device__ __forceinline__ void reduce_each(T (&x)[kCount], int lane) {
  constexpr int kTogether = kCount < kLanes ? kCount : kLanes;
#pragma unroll
  for (int first = 0; first < kCount; first += kTogether) {
    T sums[kTogether];
#pragma unroll
    for (int i = 0; i < kTogether; ++i) sums[i] = x[first + i];
    reduce_transposed<Butterfly::kNearFirst>(sums, lane);
    const T sum = reduce_lanes<kLanes / kTogether, Butterfly::kNearFirst, kTogether>(sums[0]);
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      int source = 0;  // lane with the sum of index i: one bit per halving
#pragma unroll
      for (int half = kTogether / 2, distance = 1; half > 0; half /= 2, distance *= 2)
        if ((i & half) != 0) source += distance;
      x[first + i] = __shfl_sync(kFullMask, sum, source, kLanes);
    }
  }
}

}  // namespace sptile::runtime::cuda
