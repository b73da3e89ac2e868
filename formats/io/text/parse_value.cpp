#include "formats/io/text/parse_value.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace sptile::formats {
namespace {

// from_chars does not accept '+'. A '+' before a '-' must stay, so that the word is rejected.
std::string_view without_plus(std::string_view word) {
  return word.size() > 1 && word[0] == '+' && word[1] != '-' ? word.substr(1) : word;
}

// Returns whether a number out of the range of double (or float) is too large rather than too small, from the
// decimal position of its first significant digit.
bool is_too_large(std::string_view word) {
  const std::size_t mark = std::min(word.find_first_of("eE"), word.size());
  const std::string_view mantissa = word.substr(0, mark);
  std::int64_t exponent = 0;
  if (mark < word.size()) {
    const std::string_view digits = without_plus(word.substr(mark + 1));
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
    if (error == std::errc::result_out_of_range) return !digits.starts_with('-');
  }
  const auto point = static_cast<std::int64_t>(std::min(mantissa.find('.'), mantissa.size()));
  const auto first =
      static_cast<std::int64_t>(std::min(mantissa.find_first_of("123456789"), mantissa.size()));
  return point - first + exponent > 0;
}

template <class F>
bool parse_floating(std::string_view word, F& value) {
  word = without_plus(word);
  const char* const end = word.data() + word.size();
  const auto [rest, error] = std::from_chars(word.data(), end, value);
  if (rest != end || error == std::errc::invalid_argument) return false;
  if (error == std::errc::result_out_of_range) {
    const F magnitude = is_too_large(word) ? std::numeric_limits<F>::infinity() : F{0};
    value = word.starts_with('-') ? -magnitude : magnitude;
  }
  return true;
}

}  // namespace

template <class T>
bool parse_real(std::string_view word, T& value) {
  if constexpr (std::is_floating_point_v<T>) {
    return parse_floating(word, value);
  } else {
    double rounded = 0;
    if (!parse_floating(word, rounded)) return false;
    value = round_to<T>(rounded);
    return true;
  }
}

template <class T>
bool parse_integer(std::string_view word, T& value) {
  word = without_plus(word);
  const char* const end = word.data() + word.size();
  const auto convert = [&](auto integer) {
    const auto [rest, error] = std::from_chars(word.data(), end, integer);
    if (rest != end || error != std::errc()) return false;
    if constexpr (std::is_same_v<T, float>)
      value = static_cast<float>(integer);  // not through double, which could round twice
    else
      value = round_to<T>(static_cast<double>(integer));
    return true;
  };
  return convert(std::int64_t{}) || convert(std::uint64_t{});
}

bool parse_whole(std::string_view word, std::int64_t& number) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc() && end == word.data() + word.size();
}

std::optional<Loss> text_loss(std::string_view word, double value, bool is_integer) {
  if (word.find_first_of("nN") != word.npos) return std::nullopt;  // nan, inf; numbers have no n
  if (!std::isfinite(value)) return Loss::overflow;
  if (value == 0) {
    const std::string_view mantissa = word.substr(0, word.find_first_of("eE"));
    return mantissa.find_first_of("123456789") == word.npos ? std::nullopt : std::optional(Loss::underflow);
  }
  if (!is_integer) return std::nullopt;
  word = without_plus(word);
  const auto differs = [&](auto integer) {
    const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), integer);
    return error == std::errc() && !is_exactly(value, integer);
  };
  return differs(std::int64_t{}) || differs(std::uint64_t{}) ? std::optional(Loss::inexact) : std::nullopt;
}

template bool parse_real(std::string_view, Half&);
template bool parse_real(std::string_view, BFloat16&);
template bool parse_real(std::string_view, float&);
template bool parse_real(std::string_view, double&);
template bool parse_integer(std::string_view, Half&);
template bool parse_integer(std::string_view, BFloat16&);
template bool parse_integer(std::string_view, float&);
template bool parse_integer(std::string_view, double&);

}  // namespace sptile::formats
