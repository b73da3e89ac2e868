// The four value types as C++ types: dispatch on a DType or its width, exact widening, correct rounding. Not
// used by kernels.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "formats/core/dtype.hpp"
#include "formats/core/half.hpp"
#include "formats/core/no_value_type.hpp"

namespace sptile::formats {

/// Calls f(std::type_identity<T>{}) with the C++ type of a value dtype (f16, bf16, f32, f64) and returns its
/// result.
template <class F>
decltype(auto) visit_value_type(DType dtype, F&& f) {
  switch (dtype) {
    case DType::f16:
      return std::forward<F>(f)(std::type_identity<Half>{});
    case DType::bf16:
      return std::forward<F>(f)(std::type_identity<BFloat16>{});
    case DType::f32:
      return std::forward<F>(f)(std::type_identity<float>{});
    case DType::f64:
      return std::forward<F>(f)(std::type_identity<double>{});
    default:
      no_value_type(dtype);
  }
}

/// Calls f(Word{}) with the unsigned integer type as wide as `dtype`. Code that only moves values, or
/// positions stored in place of values, moves such words. A pattern has no values, so its word type is
/// arbitrary.
template <class F>
decltype(auto) visit_word(DType dtype, F&& f) {
  switch (size_of(dtype)) {
    case 2:
      return std::forward<F>(f)(std::uint16_t{});
    case 4:
      return std::forward<F>(f)(std::uint32_t{});
    case 0:
    case 8:
      return std::forward<F>(f)(std::uint64_t{});
    default:
      no_value_type(dtype);
  }
}

/// Converts exactly.
template <class T>
double widen(T x) {
  if constexpr (std::is_floating_point_v<T>)
    return x;
  else
    return to_float(x);
}

/// Rounds to float, but to an odd last bit if the result is inexact (round to odd). A second rounding to a
/// type with at least two fewer bits then equals a single rounding.
inline float to_odd_float(double x) {
  const auto nearest = static_cast<float>(x);
  if (static_cast<double>(nearest) == x || std::isnan(x)) return nearest;
  auto bits = std::bit_cast<std::uint32_t>(nearest);
  if (std::abs(static_cast<double>(nearest)) > std::abs(x)) --bits;  // towards zero
  return std::bit_cast<float>(bits | 1u);
}

/// Rounds once to nearest, ties to even; overflow gives infinity.
template <class T>
T round_to(double x) {
  if constexpr (std::is_same_v<T, Half>)
    return to_half(to_odd_float(x));
  else if constexpr (std::is_same_v<T, BFloat16>)
    return to_bfloat16(to_odd_float(x));
  else
    return static_cast<T>(x);
}

/// Placeholder for the value type of a pattern matrix.
struct NoValue {};

}  // namespace sptile::formats
