// Sums of duplicate values: in double, sequentially, rounded once. Device and host give the same bits.
#pragma once

#include <cstdint>
#include <cstring>

#include "formats/core/half.hpp"
#include "formats/core/no_value_type.hpp"
#include "runtime/cuda/device/qualifiers.hpp"

namespace sptile::runtime::cuda {

/// A 16-bit floating-point format: sign, exponent, fraction.
template <int kExponent>
struct Bits16 {
  static constexpr int kFraction = 15 - kExponent, kBias = (1 << (kExponent - 1)) - 1, kDoubleFraction = 52,
                       kDoubleBias = 1023;
  static constexpr std::uint64_t kDoubleOne = std::uint64_t{1} << kDoubleFraction;
  static constexpr std::uint64_t kInfinity = ((std::uint64_t{1} << kExponent) - 1) << kFraction;

  SPTILE_HOST_DEVICE static double widen(std::uint16_t x) {
    const std::uint64_t magnitude = x & 0x7FFFu, exponent = magnitude >> kFraction,
                        fraction = magnitude & ((1u << kFraction) - 1);
    const std::uint64_t sign = std::uint64_t{x & 0x8000u} << 48;
    if (exponent == 0) {  // zero or subnormal: the fraction in units of the smallest subnormal
      const double small = static_cast<double>(fraction) * of_bits(smallest());
      return of_bits(bits_of(small) | sign);
    }
    const std::uint64_t wide = magnitude < kInfinity ? exponent - kBias + kDoubleBias : 2 * kDoubleBias + 1;
    return of_bits(sign | wide << kDoubleFraction | fraction << (kDoubleFraction - kFraction));
  }

  /// Rounds to nearest, ties to even; overflow gives infinity, NaN stays NaN.
  SPTILE_HOST_DEVICE static std::uint16_t round(double x) {
    const std::uint64_t bits = bits_of(x), magnitude = bits << 1 >> 1, sign = bits >> 48 & 0x8000u;
    const int exponent = static_cast<int>(magnitude >> kDoubleFraction) - kDoubleBias;
    const std::uint64_t fraction = magnitude & (kDoubleOne - 1);
    if (exponent > kBias) {
      const bool is_nan = exponent > kDoubleBias && fraction != 0;
      const std::uint64_t payload = fraction >> (kDoubleFraction - kFraction) | 1u << (kFraction - 1);
      return static_cast<std::uint16_t>(sign | kInfinity | (is_nan ? payload : 0));
    }
    const bool normal = exponent > -kBias;
    const int dropped = kDoubleFraction - kFraction + (normal ? 0 : 1 - kBias - exponent);
    if (dropped > kDoubleFraction + 1) return static_cast<std::uint16_t>(sign);
    // The leading one of the significand increments the exponent field by one, and so does a carry.
    const std::uint64_t front = normal ? static_cast<std::uint64_t>(exponent + kBias - 1) << kFraction : 0;
    return static_cast<std::uint16_t>(sign | (front + rounded(fraction | kDoubleOne, dropped)));
  }

 private:
  SPTILE_HOST_DEVICE static std::uint64_t rounded(std::uint64_t significand, int dropped) {
    const std::uint64_t kept = significand >> dropped, half = std::uint64_t{1} << (dropped - 1),
                        rest = significand & (2 * half - 1);
    return kept + (rest > half || (rest == half && (kept & 1) != 0) ? 1 : 0);
  }
  SPTILE_HOST_DEVICE static std::uint64_t smallest() {
    return static_cast<std::uint64_t>(kDoubleBias + 1 - kBias - kFraction) << kDoubleFraction;
  }
  SPTILE_HOST_DEVICE static double of_bits(std::uint64_t bits) {
    double x = 0;
    std::memcpy(&x, &bits, sizeof x);
    return x;
  }
  SPTILE_HOST_DEVICE static std::uint64_t bits_of(double x) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
  }
};

SPTILE_HOST_DEVICE double widen(Half x) { return Bits16<5>::widen(x.bits); }
SPTILE_HOST_DEVICE double widen(BFloat16 x) { return Bits16<8>::widen(x.bits); }
SPTILE_HOST_DEVICE double widen(float x) { return x; }
SPTILE_HOST_DEVICE double widen(double x) { return x; }
SPTILE_HOST_DEVICE void round_to(Half& to, double x) { to.bits = Bits16<5>::round(x); }
SPTILE_HOST_DEVICE void round_to(BFloat16& to, double x) { to.bits = Bits16<8>::round(x); }
SPTILE_HOST_DEVICE void round_to(float& to, double x) { to = static_cast<float>(x); }
SPTILE_HOST_DEVICE void round_to(double& to, double x) { to = x; }

/// to[i]: sum of the values at position[first[i]] to position[first[i + 1] - 1], in this order. A single
/// value keeps its bits.
template <class T>
struct SumValues {
  const std::int64_t *position, *first;
  const T* values;
  T* to;

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t begin = first[i], end = first[i + 1];
    T result = values[position[begin]];
    if (end > begin + 1) {
      double sum = widen(result);
      for (std::int64_t k = begin + 1; k < end; ++k) sum += widen(values[position[k]]);
      round_to(result, sum);
    }
    to[i] = result;
  }
};

/// Calls f(T{}) with the C++ type of the values; not for a pattern.
template <class F>
void visit_value_type(DType dtype, const F& f) {
  switch (dtype) {
    case DType::none:
      return;
    case DType::f16:
      return f(Half{});
    case DType::bf16:
      return f(BFloat16{});
    case DType::f32:
      return f(float{});
    case DType::f64:
      return f(double{});
    default:
      no_value_type(dtype);
  }
}

}  // namespace sptile::runtime::cuda
