#include "formats/io/text/print_number.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <iterator>
#include <vector>

#include "formats/core/value_types.hpp"

namespace sptile::formats {
namespace {

struct ShortText {
  std::array<char, 15> text;
  std::uint8_t length;
};

ShortText shortest_text(auto number) {
  ShortText result{};
  char* const begin = result.text.data();
  result.length =
      static_cast<std::uint8_t>(std::to_chars(begin, begin + result.text.size(), number).ptr - begin);
  return result;
}

// Returns the decimal number with the fewest digits that rounds to the value.
template <class T>
double shortest_digits(T value) {
  for (int digits = 1;; ++digits) {
    char text[32];
    const auto printed =
        std::to_chars(text, std::end(text), to_float(value), std::chars_format::scientific, digits - 1);
    double back = 0;
    std::from_chars(text, printed.ptr, back);
    if (round_to<T>(back) == value) return back;
  }
}

// A 16-bit type has only 65,536 values: each is computed once. On a tie the exact value wins.
template <class T>
ShortText find_shortest(T value) {
  const float exact = to_float(value);
  const ShortText exact_text = shortest_text(exact);
  if (!std::isfinite(exact)) return exact_text;
  const ShortText rounded = shortest_text(shortest_digits(value));
  return rounded.length < exact_text.length ? rounded : exact_text;
}

template <class T>
char* copy_shortest(char* out, T value) {
  static const std::vector<ShortText> table = [] {
    std::vector<ShortText> all;
    for (std::uint32_t bits = 0; bits < 0x10000u; ++bits)
      all.push_back(find_shortest(T{static_cast<std::uint16_t>(bits)}));
    return all;
  }();
  const ShortText& found = table[value.bits];
  std::memcpy(out, found.text.data(), found.text.size());
  return out + found.length;
}

}  // namespace

char* print_value(char* out, Half value) { return copy_shortest(out, value); }
char* print_value(char* out, BFloat16 value) { return copy_shortest(out, value); }

}  // namespace sptile::formats
