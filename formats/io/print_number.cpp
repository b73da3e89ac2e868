#include "formats/io/print_number.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "formats/value_types.hpp"

namespace sptile::formats {
namespace {

struct ShortText {
  std::array<char, 15> text;
  std::uint8_t length;
};

// There are only 65,536 values of a 16-bit type: look for the fewest digits that read back, once for each.
template <class T>
ShortText find_shortest(T value) {
  ShortText result{};
  char* const begin = result.text.data();
  char* const end = begin + result.text.size();
  const float exact = to_float(value);
  for (int digits = 1;; ++digits) {
    const auto printed = std::isfinite(exact)
                             ? std::to_chars(begin, end, exact, std::chars_format::general, digits)
                             : std::to_chars(begin, end, exact);
    result.length = static_cast<std::uint8_t>(printed.ptr - begin);
    double back = 0;
    std::from_chars(begin, printed.ptr, back);
    if (!std::isfinite(exact) || round_to<T>(back) == value) return result;
  }
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
