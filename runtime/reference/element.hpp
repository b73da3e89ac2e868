// Access to elements of any type, and error bounds of computed elements.
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

/// Calls f with the elements of an f16, bf16, f32, f64 or i32 array, in their type; see widened.
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
    case DType::i32:
      return f(static_cast<const std::int32_t*>(data));
    default:
      no_value_type(dtype);
  }
}

/// Returns element i of such an array.
inline double read_element(DType dtype, const void* data, std::int64_t i) {
  return with_elements(dtype, data, [i](const auto* elements) { return widened(elements[i]); });
}

/// Writes element i, rounded once; the fraction of a number that becomes an i32 is dropped.
void write_element(DType dtype, void* data, std::int64_t i, double x);

/// Returns the error of an element of type `dtype`: |computed - reference| / (scale + smallest normal number
/// of `dtype`), where rounding errors are proportional to `scale`. If the reference, rounded to `dtype`, is
/// infinite or NaN, the element must be the same infinity or a NaN. Otherwise, or if only the element is not
/// finite, the error is infinite.
double element_error(DType dtype, double computed, double reference, double scale);

/// Returns the maximum distance of x from a number that rounds to it: relative above the smallest normal
/// number of the type.
double rounding_slack(DType dtype, double x);

/// Bounds element_error for a sum of `terms` products: one rounding per product and three more in the
/// accumulator (f32, or f64 for f64 operands), one to the type of the result, and a factor of 2 for
/// second-order terms.
double tolerated_sum_error(std::int64_t terms, const DenseTypes& dense);

}  // namespace sptile::runtime
