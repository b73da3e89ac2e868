// The two 16-bit storage types. Arithmetic is done in float.
#pragma once

#include <bit>
#include <cstdint>

namespace sptile {

/// IEEE 754 binary16.
struct Half {
  std::uint16_t bits = 0;
  friend bool operator==(Half, Half) = default;
};

/// bfloat16: the upper half of an IEEE 754 binary32.
struct BFloat16 {
  std::uint16_t bits = 0;
  friend bool operator==(BFloat16, BFloat16) = default;
};

/// Converts exactly.
constexpr float to_float(BFloat16 x) { return std::bit_cast<float>(std::uint32_t{x.bits} << 16); }

/// Converts exactly, including subnormals and NaN payloads.
constexpr float to_float(Half x) {
  const std::uint32_t sign = std::uint32_t{x.bits & 0x8000u} << 16;
  const std::uint32_t magnitude = x.bits & 0x7fffu;
  if (magnitude >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
  if (magnitude < 0x400u) {  // zero or subnormal: magnitude * 2^-24
    const float value = static_cast<float>(magnitude) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(value));
  }
  return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000u));
}

/// Rounds to nearest, ties to even; NaN stays NaN.
constexpr BFloat16 to_bfloat16(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return {static_cast<std::uint16_t>(bits >> 16 | 0x40u)};
  return {static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16)};
}

/// Rounds to nearest, ties to even; overflow gives infinity, NaN stays NaN.
constexpr Half to_half(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u)
    return {static_cast<std::uint16_t>(sign | 0x7e00u | (magnitude >> 13 & 0x3ffu))};
  if (magnitude >= 0x477ff000u) return {static_cast<std::uint16_t>(sign | 0x7c00u)};  // rounds past 65504
  if (magnitude < 0x38800000u) {  // result is subnormal: let float addition round at 2^-24
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return {static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000u))};
  }
  const std::uint32_t rounded = magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1u);
  return {static_cast<std::uint16_t>(sign | rounded >> 13)};
}

}  // namespace sptile
