// Element types on the device: their sums, widening and rounding.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace sptile::runtime::cuda {

/// Type that elements are multiplied and added in.
template <class T>
struct Accumulator {
  using Type = float;
};
template <>
struct Accumulator<double> {
  using Type = double;
};

template <class A>
__device__ __forceinline__ A to_sum(float x) {
  return x;
}
template <class A>
__device__ __forceinline__ A to_sum(double x) {
  return x;
}
template <class A>
__device__ __forceinline__ A to_sum(__half x) {
  return __half2float(x);
}
template <class A>
__device__ __forceinline__ A to_sum(__nv_bfloat16 x) {
  return __bfloat162float(x);
}

/// Rounds to nearest.
template <class T>
__device__ __forceinline__ T to_element(float x) {
  return T(x);
}
template <class T>
__device__ __forceinline__ T to_element(double x) {
  return T(x);
}

}  // namespace sptile::runtime::cuda
