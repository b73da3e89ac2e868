#include "formats/io/text/parse_value.hpp"

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

using namespace sptile;
using namespace sptile::formats;

namespace {

std::string padded(std::string_view word, std::string_view rest) {
  return std::string(word) + std::string(rest) + std::string(16, '\0');
}

// The value that the quick path finds in front of `rest`, if it takes the word at all.
template <class T>
std::optional<T> quick(std::string_view word, std::string_view rest = "\n") {
  const std::string text = padded(word, rest);
  Decimal number;
  const char* const end = read_decimal(text.data(), number);
  if (end != text.data() + word.size()) return std::nullopt;
  T value{};
  if (!to_value(number, word, value)) return std::nullopt;
  return value;
}

template <class T>
std::optional<T> full(std::string_view word) {
  T value{};
  return parse_real(word, value) ? std::optional(value) : std::nullopt;
}

// Both paths against the C library, bit by bit.
void check_value(const std::string& word) {
  CAPTURE(word);
  const double wide = std::strtod(word.c_str(), nullptr);
  const float narrow = std::strtof(word.c_str(), nullptr);
  REQUIRE(full<double>(word).has_value());
  CHECK(std::bit_cast<std::uint64_t>(*full<double>(word)) == std::bit_cast<std::uint64_t>(wide));
  CHECK(std::bit_cast<std::uint32_t>(*full<float>(word)) == std::bit_cast<std::uint32_t>(narrow));
  CHECK(*full<Half>(word) == round_to<Half>(wide));
  if (const auto value = quick<double>(word))
    CHECK(std::bit_cast<std::uint64_t>(*value) == std::bit_cast<std::uint64_t>(wide));
  if (const auto value = quick<float>(word))
    CHECK(std::bit_cast<std::uint32_t>(*value) == std::bit_cast<std::uint32_t>(narrow));
  if (const auto value = quick<Half>(word)) CHECK(*value == round_to<Half>(wide));
}

std::string print(double value, std::chars_format format, int precision) {
  std::array<char, 400> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value, format, precision).ptr;
  return {text.data(), end};
}

}  // namespace

TEST_CASE("chunks give the digits in front of anything else, for every count") {
  for (int count = 0; count <= 8; ++count)
    for (int byte = 0; byte < 256; ++byte) {
      const char other = static_cast<char>(byte);
      if (other >= '0' && other <= '9') continue;
      std::string text = std::string("98765432").substr(0, static_cast<std::size_t>(count)) + other;
      text += std::string(12, other == '\n' ? '7' : '\xff');
      const DigitChunk chunk = read_chunk(text.data());
      REQUIRE(chunk.count == count);
      if (count > 0) REQUIRE(std::to_string(chunk.value) == text.substr(0, static_cast<std::size_t>(count)));
    }
}

TEST_CASE("digits of any length are appended") {
  for (const char* digits :
       {"0", "7", "12345678", "123456789", "1234567890123456", "12345678901234567", "00000000000000000042"}) {
    const std::string text = padded(digits, " 5");
    std::uint64_t number = 0;
    CHECK(append_digits(text.data(), number) == text.data() + std::string_view(digits).size());
    CHECK(number == std::strtoull(digits, nullptr, 10));
  }
}

TEST_CASE("known values, among them those that are hard to round") {
  for (const char* word : {"0",
                           "-0",
                           "1",
                           "-1.5",
                           "1.",
                           ".5",
                           "-.5",
                           "1e5",
                           "1E+5",
                           "1e-5",
                           "0.1",
                           "123456789.123456789",
                           "9007199254740993",
                           "9007199254740993e-3",
                           "1e22",
                           "1e23",
                           "8.5e22",
                           "1e-22",
                           "1e-23",
                           "5e-324",
                           "2.2250738585072011e-308",
                           "1.7976931348623157e308",
                           "3.4028235e38",
                           "3.4028236e38",
                           "1.401298464324817e-45",
                           "1e-46",
                           "1e39",
                           "16777217",
                           "16777217.0000001",
                           "1.00000017881393432617187499",
                           "1.00000017881393432617187500",
                           "1.00000017881393432617187501",
                           "0.000000000000000000000000000000000000011754943",
                           "1.17549431e-38",
                           "65504",
                           "65519.99",
                           "65520",
                           "5.9604644775390625e-08",
                           "1234567890123456789"})
    check_value(word);
}

TEST_CASE("random decimals are rounded correctly by both paths") {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const int digits = 1 + static_cast<int>(random() % 19);
    std::string word = random() % 2 != 0 ? "-" : "";
    const int point = static_cast<int>(random() % 25);
    for (int d = 0; d < digits; ++d) {
      if (d == point) word += '.';
      word += static_cast<char>('0' + random() % 10);
    }
    if (random() % 2 != 0) word += "e" + std::to_string(static_cast<int>(random() % 90) - 45);
    check_value(word);
  }
}

TEST_CASE("floats and doubles printed in the usual ways read back") {
  std::mt19937_64 random(2);
  for (int i = 0; i < 5000; ++i) {
    const auto wide = std::bit_cast<double>(random());
    const auto narrow = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (!std::isfinite(wide) || !std::isfinite(narrow)) continue;
    check_value(print(wide, std::chars_format::scientific, 16));
    check_value(print(narrow, std::chars_format::scientific, 8));
    check_value(print(static_cast<double>(random() >> 11) * 0x1p-53, std::chars_format::fixed, 17));
    // Halfway between two floats, and a little beside it: where rounding twice goes wrong.
    const auto next = std::nextafter(narrow, std::numeric_limits<float>::infinity());
    const double midpoint = (static_cast<double>(narrow) + static_cast<double>(next)) / 2;
    if (!std::isfinite(midpoint)) continue;
    check_value(print(midpoint, std::chars_format::scientific, 25));
    check_value(print(std::nextafter(midpoint, 0.0), std::chars_format::scientific, 16));
    check_value(print(std::nextafter(midpoint, 1e300), std::chars_format::scientific, 18));
  }
}

TEST_CASE("words that are not wholly a number are refused") {
  for (const char* word :
       {"",     "+",   "-",   ".",   "e5",  "1e", "1e+", "1.5.2", "1,5",  "0x10",  "1d5",
        "1e5x", "--1", "+-1", "-+1", "++1", "1 ", " 1",  "infi",  "nanx", "1_000", "1e5.5"})
    CHECK_MESSAGE(!full<double>(word).has_value(), word);
  double untouched = 42;
  CHECK(!parse_real("x", untouched));
  CHECK(untouched == 42);
}

TEST_CASE("not-a-number, infinity and magnitudes out of range") {
  for (const char* word : {"nan", "NaN", "-nan", "+NAN"}) CHECK(std::isnan(*full<float>(word)));
  for (const char* word : {"inf", "Infinity", "+INF", "1e400", "9999e99999999999999999999", "123456e305"})
    CHECK(*full<double>(word) == std::numeric_limits<double>::infinity());
  CHECK(*full<double>("-1e400") == -std::numeric_limits<double>::infinity());
  for (const char* word :
       {"1e-400", "0.0000001e-99999999999999999999", "0e99999999999999999999", "0.001e-330"})
    CHECK(*full<double>(word) == 0);
  CHECK(std::signbit(*full<double>("-1e-400")));
  CHECK(std::isinf(to_float(*full<Half>("65520"))));
  const std::string long_zero = "0." + std::string(400, '0') + "1e401";
  CHECK(*full<double>(long_zero) == 1);
  const std::string long_large = "1" + std::string(400, '0') + "e-401";
  CHECK(*full<double>(long_large) == 0.1);
}

TEST_CASE("integers are exact up to 64 bits and refused beyond") {
  double value = 0;
  const auto read = [&](const char* word) { return parse_integer(word, value); };
  CHECK(read("-9223372036854775808"));
  CHECK(value == -0x1p63);
  CHECK(read("18446744073709551615"));
  CHECK(value == 0x1p64);
  CHECK(read("+9007199254740993"));  // not a double: rounded to even
  CHECK(value == 9007199254740992.0);
  for (const char* word :
       {"18446744073709551616", "-9223372036854775809", "1.0", "1e3", "", "-", "0x5", "nan", "5 "})
    CHECK_MESSAGE(!read(word), word);
  float narrow = 0;
  CHECK(parse_integer("16777217", narrow));
  CHECK(narrow == 16777216.0F);
  CHECK(parse_integer("9007199791611905",
                      narrow));  // just above a midpoint of floats; by way of double it is not
  CHECK(narrow == 9007200328482816.0F);
}
