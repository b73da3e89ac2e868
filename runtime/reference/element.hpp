// Elements of any type, and how far a computed one may be from what it should be.
#pragma once

#include <cstdint>

#include "formats/core/dtype.hpp"
#include "formats/core/half.hpp"
#include "formats/core/no_value_type.hpp"
#include "runtime/core/operands.hpp"

namespace sptile::runtime {

inline double widened(Half x) { return to_float(x); }
inline double widened(BFloat16 x) { return to_float(x); }
inline double widened(double x) { return x; }

/// Calls f with the elements of an array of f16, bf16, f32 or f64, in their own type; see widened.
template <class F>
decltype(auto) with_elements(DType dtype, const void* data, F&& f) {
  switch (dtype) {
    case DType::f16:
      return f(static_cast<const Half*>(data));
    case DType::bf16:
      return f(static_cast<const BFloat16*>(data));
    case DType::f32:
      return f(static_cast<const float*>(data));
    case DType::f64:
      return f(static_cast<const double*>(data));
    default:
      no_value_type(dtype);
  }
}

/// Reads element i of such an array.
inline double read_element(DType dtype, const void* data, std::int64_t i) {
  return with_elements(dtype, data, [i](const auto* elements) { return widened(elements[i]); });
}

/// Writes it, rounded once.
void write_element(DType dtype, void* data, std::int64_t i, double x);

/// Measures how wrong an element of type `dtype` is: |computed - reference| / (scale + smallest normal number
/// of `dtype`), where `scale` is what rounding errors are proportional to. Where the reference, rounded to
/// `dtype`, is infinite or NaN the element must be the same infinity or a NaN; if not, or if the element
/// alone is not finite, the error is infinite.
double element_error(DType dtype, double computed, double reference, double scale);

/// How far a number may be from x that x is rounded to, in a type: relative above its smallest normal number.
double rounding_slack(DType dtype, double x);

/// Bounds element_error for a sum of so many products: a rounding for each and three more in the accumulator
/// (f32, or f64 for f64 operands) and one to the type of the result, with a factor 2 for second-order
/// terms.
double tolerated_sum_error(std::int64_t terms, const DenseTypes& dense);

}  // namespace sptile::runtime
