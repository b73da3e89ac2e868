// State of an online softmax: the maximum score so far, and sums of weights relative to that maximum. A
// larger score rescales the sums (Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018).
#pragma once

#include <cmath>

#include "runtime/core/score.hpp"

namespace sptile::runtime::cuda {

/// Exponential functions of scores: base e, or base 2 for scores that are multiplied by log2(e). Relative
/// errors of the fast functions grow with |x|, as do those of the scores.
struct NaturalExponential {
  __device__ __forceinline__ static float of(float x) {
#ifdef __CUDACC__
    return __expf(x);
#else
    return std::exp(x);
#endif
  }
  __device__ __forceinline__ static double of(double x) { return exp(x); }
};
struct BinaryExponential {
  __device__ __forceinline__ static float of(float x) { return exp2f(x); }
};

/// Score of positions without a nonzero, and the maximum of no scores.
template <class Acc>
__device__ __forceinline__ Acc masked() {
  return static_cast<Acc>(-HUGE_VAL);
}

/// Returns the number that is subtracted from the scores of a row; 0 if all scores are masked.
template <class Acc>
__device__ __forceinline__ Acc shift_of(Acc maximum) {
  return maximum == masked<Acc>() ? Acc{0} : maximum;
}

/// Returns 1 / sum, or 0 for rows without weights.
template <class Acc>
__device__ __forceinline__ Acc inverse_of(Acc sum) {
  return sum == Acc{0} ? Acc{0} : Acc{1} / sum;
}

/// State of one row, with kElements weighted sums per lane.
template <class Exponential, class Acc, int kElements>
struct SoftmaxState {
  static constexpr int kNumbers = kElements + 2;  ///< that store() writes
  Acc maximum, sum;
  Acc out[kElements];

  __device__ __forceinline__ void reset() {
    maximum = masked<Acc>();
    sum = 0;
#pragma unroll
    for (int e = 0; e < kElements; ++e) out[e] = 0;
  }

  /// Sets the maximum, which must not decrease, and scales the sums to it.
  __device__ __forceinline__ void rescale(Acc larger) {
    const Acc factor = Exponential::of(maximum - shift_of(larger));
    sum *= factor;
#pragma unroll
    for (int e = 0; e < kElements; ++e) out[e] *= factor;
    maximum = larger;
  }

  /// Returns the weight of a score that does not exceed the maximum.
  [[nodiscard]] __device__ __forceinline__ Acc weight_of(Acc score) const {
    return Exponential::of(score - shift_of(maximum));
  }

  /// Adds `weight` times a row of V, of which element(e) returns the lane's elements.
  template <class Element>
  __device__ __forceinline__ void add(Acc weight, const Element& element) {
    sum += weight;
#pragma unroll
    for (int e = 0; e < kElements; ++e) out[e] += weight * element(e);
  }

  /// Stores the state for a warp on another multiprocessor, with numbers kStride apart.
  template <int kStride>
  __device__ __forceinline__ void store(Acc* to) const {
    __stcg(to, maximum);
    __stcg(to + kStride, sum);
#pragma unroll
    for (int e = 0; e < kElements; ++e) __stcg(to + (2 + e) * kStride, out[e]);
  }

  /// Merges a state that store() has written.
  template <int kStride>
  __device__ __forceinline__ void merge(const Acc* from) {
    const Acc other = __ldcg(from);
    // Without a branch, so that loads of several states overlap.
    rescale(other > maximum ? other : maximum);
    // The sum of a state without a maximum may still be NaN.
    const Acc factor = other == masked<Acc>() ? Acc{1} : weight_of(other);
    sum += factor * __ldcg(from + kStride);
#pragma unroll
    for (int e = 0; e < kElements; ++e) out[e] += factor * __ldcg(from + (2 + e) * kStride);
  }
};

}  // namespace sptile::runtime::cuda
