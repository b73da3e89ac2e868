#include "runtime/reference/element.hpp"

#include <bit>
#include <cfloat>
#include <cmath>
#include <limits>

#include "formats/core/half.hpp"

namespace sptile::runtime {
namespace {

/// Rounds a double to float, to odd: the last bit is set if the result is inexact, so that rounding it to 16
/// bits equals rounding once.
float to_float_odd(double x) {
  const auto nearest = static_cast<float>(x);
  if (!std::isfinite(x) || static_cast<double>(nearest) == x) return nearest;
  const bool away = std::fabs(static_cast<double>(nearest)) > std::fabs(x);
  const float cut = away ? std::nextafterf(nearest, 0.0F) : nearest;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(cut) | 1U);
}

/// Rounding parameters of a value type.
struct Rounding {
  DType dtype;
  double smallest_normal;  ///< rounding errors are relative above it and absolute below
  double unit_roundoff;    ///< half the distance from 1 to the next number
  double largest;          ///< largest finite number
};
constexpr Rounding kRoundings[] = {{DType::f16, 0x1p-14, 0x1p-11, 65504},
                                   {DType::bf16, FLT_MIN, 0x1p-8, 0x1.FEp127},
                                   {DType::f32, FLT_MIN, 0x1p-24, FLT_MAX},
                                   {DType::f64, DBL_MIN, 0x1p-53, DBL_MAX},
                                   {DType::i32, 1, 0, INT32_MAX}};

const Rounding& rounding(DType dtype) {
  for (const Rounding& row : kRoundings)
    if (row.dtype == dtype) return row;
  no_value_type(dtype);
}

}  // namespace

void write_element(DType dtype, void* data, std::int64_t i, double x) {
  switch (dtype) {
    case DType::f16:
      static_cast<Half*>(data)[i] = to_half(to_float_odd(x));
      break;
    case DType::bf16:
      static_cast<BFloat16*>(data)[i] = to_bfloat16(to_float_odd(x));
      break;
    case DType::f32:
      static_cast<float*>(data)[i] = static_cast<float>(x);
      break;
    case DType::f64:
      static_cast<double*>(data)[i] = x;
      break;
    case DType::i32:
      static_cast<std::int32_t*>(data)[i] = static_cast<std::int32_t>(x);
      break;
    default:
      no_value_type(dtype);
  }
}

namespace {
double rounded(DType dtype, double x) {
  double storage = 0;
  write_element(dtype, &storage, 0, x);
  return read_element(dtype, &storage, 0);
}

}  // namespace

double element_error(DType dtype, double computed, double reference, double scale) {
  const Rounding& row = rounding(dtype);
  const bool in_range = std::fabs(reference) <= row.largest;
  const double target = in_range ? reference : rounded(dtype, reference);
  if (std::isfinite(computed) && std::isfinite(target))
    return std::fabs(computed - reference) / (scale + row.smallest_normal);
  const bool same = (std::isnan(computed) && std::isnan(target)) || computed == target;
  return same ? 0 : std::numeric_limits<double>::infinity();
}

double rounding_slack(DType dtype, double x) {
  const Rounding& row = rounding(dtype);
  return row.unit_roundoff * std::fmax(std::fabs(x), row.smallest_normal);
}

double tolerated_sum_error(std::int64_t terms, const DenseTypes& dense) {
  const double accumulator = rounding(dense.operands == DType::f64 ? DType::f64 : DType::f32).unit_roundoff;
  return 2 * (static_cast<double>(terms + 3) * accumulator + rounding(dense.result).unit_roundoff);
}

}  // namespace sptile::runtime
