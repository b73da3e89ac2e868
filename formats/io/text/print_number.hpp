// Fast conversion of numbers to text.
#pragma once

#include <charconv>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "formats/core/half.hpp"

namespace sptile::formats {

/// Maximum characters of print_value.
inline constexpr int kLongestValue = 32;

/// Prints an integer of at most ten characters; returns its end.
inline char* print_index(char* out, std::int64_t index) { return std::to_chars(out, out + 20, index).ptr; }

/// Prints the shortest decimal that reads back as the same value of the same type; "nan" or "inf" with sign.
inline char* print_value(char* out, double value) {
  return std::to_chars(out, out + kLongestValue, value).ptr;
}
inline char* print_value(char* out, float value) {
  return std::to_chars(out, out + kLongestValue, value).ptr;
}
char* print_value(char* out, Half value);
char* print_value(char* out, BFloat16 value);

}  // namespace sptile::formats
