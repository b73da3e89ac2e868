// Elements of any type, and how far a computed one may be from what it should be.
#pragma once

#include <cstdint>

#include "formats/dtype.hpp"
#include "formats/half.hpp"
#include "formats/no_value_type.hpp"
#include "runtime/operands.hpp"

namespace sptile::runtime {

/// Reads element i of an array of f16, bf16, f32 or f64.
inline double read_element(DType dtype, const void* data, std::int64_t i) {
  switch (dtype) {
    case DType::f16:
      return to_float(static_cast<const Half*>(data)[i]);
    case DType::bf16:
      return to_float(static_cast<const BFloat16*>(data)[i]);
    case DType::f32:
      return static_cast<const float*>(data)[i];
    case DType::f64:
      return static_cast<const double*>(data)[i];
    default:
      no_value_type(dtype);
  }
}

/// Writes it, rounded once.
void write_element(DType dtype, void* data, std::int64_t i, double x);

/// Measures how wrong an element of type `dtype` is: |computed - reference| / (scale + smallest normal number
/// of `dtype`), where `scale` is what rounding errors are proportional to. Where the reference, rounded to
/// `dtype`, is infinite or NaN the element must be the same infinity or a NaN; if not, or if the element
/// alone is not finite, the error is infinite.
double element_error(DType dtype, double computed, double reference, double scale);

/// Bounds element_error for a sum of so many products: a rounding for each and three more in the accumulator
/// (f32, or f64 for f64 operands) and one to the type of the result, with a factor 2 for second-order
/// terms.
double tolerated_sum_error(std::int64_t terms, const DenseTypes& dense);

}  // namespace sptile::runtime
