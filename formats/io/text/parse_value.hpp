// Conversion of text to values: the full grammar for single words, and a fast path for common numbers.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>

#include "formats/core/value_loss.hpp"
#include "formats/core/value_types.hpp"
#include "formats/io/text/digits.hpp"

namespace sptile::formats {

/// Parses an entire word as a real number: optional sign, digits with an optional point, optional exponent (e
/// or E); or nan, inf, infinity in any case. Rounds once to nearest (f16 and bf16 through double). Too large
/// magnitudes become infinite, too small ones zero. Returns false, with `value` unchanged, for other words.
template <class T>
bool parse_real(std::string_view word, T& value);

/// Parses an entire word as an integer from -2^63 to 2^64 - 1, rounded to T.
template <class T>
bool parse_integer(std::string_view word, T& value);

/// Parses an entire word as a 64-bit integer: an optional minus sign and digits. Returns false for other
/// words.
bool parse_whole(std::string_view word, std::int64_t& number);

/// Returns the loss, other than of precision, of reading a word as `value`; `is_integer` marks integers.
std::optional<Loss> text_loss(std::string_view word, double value, bool is_integer);

/// A decimal number of at most 19 digits: digits * 10^exponent.
struct Decimal {
  std::uint64_t digits = 0;
  int exponent = 0;
  bool negative = false;
};

/// Parses a decimal number at `p`, with kTextPadding bytes readable after it. Returns its end, or nullptr if
/// it needs the full grammar.
inline const char* read_decimal(const char* p, Decimal& number) {
  number.negative = *p == '-';
  p += number.negative ? 1 : 0;
  const char* const first = p;
  number.digits = 0;
  p = append_digits(p, number.digits);
  std::int64_t count = p - first;
  std::int64_t exponent = 0;
  if (*p == '.') {
    const char* const fraction = ++p;
    p = append_digits(p, number.digits);
    exponent = fraction - p;
    count -= exponent;
  }
  if (count < 1 || count > 19) return nullptr;
  if ((*p | 0x20) == 'e') {
    ++p;
    const bool negative = *p == '-';
    p += negative || *p == '+' ? 1 : 0;
    const DigitChunk chunk = read_chunk(p);
    if (chunk.count < 1 || chunk.count > 4) return nullptr;
    exponent += negative ? -static_cast<std::int64_t>(chunk.value) : static_cast<std::int64_t>(chunk.value);
    p += chunk.count;
  }
  number.exponent = static_cast<int>(exponent);
  return p;
}

inline constexpr double kExactPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                          1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                          1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/// Converts with one correctly rounded operation on two exact doubles (Clinger, "How to Read Floating Point
/// Numbers Accurately", 1990). Returns false if that is not possible.
inline bool to_double_quickly(const Decimal& number, double& value) {
  if (number.digits > std::uint64_t{1} << 53 || number.exponent < -22 || number.exponent > 22) return false;
  const auto digits = static_cast<double>(number.negative ? -static_cast<std::int64_t>(number.digits)
                                                          : static_cast<std::int64_t>(number.digits));
  value =
      number.exponent < 0 ? digits / kExactPowers[-number.exponent] : digits * kExactPowers[number.exponent];
  if (number.negative && number.digits == 0) value = -0.0;
  return true;
}

/// Rounds a double that is itself rounded. Returns false if double rounding may change the result: the double
/// is exactly halfway between two floats, or rounds to a subnormal.
inline bool narrow_quickly(double rounded, float& value) {
  constexpr std::uint64_t kDropped = (std::uint64_t{1} << 29) - 1, kMidpoint = std::uint64_t{1} << 28;
  value = static_cast<float>(rounded);
  const bool subnormal = std::abs(rounded) < static_cast<double>(std::numeric_limits<float>::min());
  return (std::bit_cast<std::uint64_t>(rounded) & kDropped) != kMidpoint && (!subnormal || rounded == 0);
}

/// Converts the result of read_decimal for `word`.
template <class T>
bool to_value(const Decimal& number, std::string_view word, T& value) {
  double rounded = 0;
  if (!to_double_quickly(number, rounded)) return parse_real(word, value);
  if constexpr (std::is_same_v<T, float>) return narrow_quickly(rounded, value) || parse_real(word, value);
  value = round_to<T>(rounded);
  return true;
}

}  // namespace sptile::formats
