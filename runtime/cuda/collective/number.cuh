// Conversions between the element types of operands and the types that kernels compute in.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <type_traits>

#include "formats/core/dtype.hpp"
#include "formats/core/half.hpp"

namespace sptile::runtime::cuda {

/// Value type of a pattern matrix: every stored entry is 1.
struct Ones {};

/// DType of an element type; none for Ones.
template <class T>
inline constexpr DType kDTypeOf = DType::none;
template <>
inline constexpr DType kDTypeOf<float> = DType::f32;
template <>
inline constexpr DType kDTypeOf<double> = DType::f64;
template <>
inline constexpr DType kDTypeOf<Half> = DType::f16;
template <>
inline constexpr DType kDTypeOf<BFloat16> = DType::bf16;
template <>
inline constexpr DType kDTypeOf<__half> = DType::f16;
template <>
inline constexpr DType kDTypeOf<__nv_bfloat16> = DType::bf16;

/// Type in which elements of type T are multiplied and added.
template <class T>
struct Accumulator {
  using Type = float;
};
template <>
struct Accumulator<double> {
  using Type = double;
};

/// CUDA's type for elements of type T.
template <class T>
using CudaNumber = std::conditional_t<std::is_same_v<T, Half>, __half,
                                      std::conditional_t<std::is_same_v<T, BFloat16>, __nv_bfloat16, T>>;

/// Converts an element to its accumulator type. All conversions are exact.
__device__ __forceinline__ float widen(float x) { return x; }
__device__ __forceinline__ double widen(double x) { return x; }
__device__ __forceinline__ float widen(__half x) { return __half2float(x); }
__device__ __forceinline__ float widen(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ __forceinline__ float widen(Half x) { return __half2float(__ushort_as_half(x.bits)); }
__device__ __forceinline__ float widen(BFloat16 x) { return __uint_as_float(std::uint32_t{x.bits} << 16); }

/// Rounds an accumulator to the nearest T, ties to even.
template <class T, class Acc>
__device__ __forceinline__ T narrow(Acc x) {
  if constexpr (std::is_same_v<T, Half>)
    return {__half_as_ushort(__float2half_rn(x))};
  else if constexpr (std::is_same_v<T, BFloat16>)
    return {__bfloat16_as_ushort(__float2bfloat16_rn(x))};
  else
    return T(x);
}

}  // namespace sptile::runtime::cuda
