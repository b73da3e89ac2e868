// Numbers to text, for writers of millions of them.
#pragma once

#include <charconv>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "formats/core/half.hpp"

namespace sptile::formats {

/// Characters that print_value may need at most.
inline constexpr int kLongestValue = 32;

/// Prints a number; returns its end. Ten characters at most.
inline char* print_index(char* out, std::int64_t index) { return std::to_chars(out, out + 20, index).ptr; }

/// Prints the shortest decimal that reads back as the same value of the same type, "nan" or "inf" with their
/// sign.
inline char* print_value(char* out, double value) {
  return std::to_chars(out, out + kLongestValue, value).ptr;
}
inline char* print_value(char* out, float value) {
  return std::to_chars(out, out + kLongestValue, value).ptr;
}
char* print_value(char* out, Half value);
char* print_value(char* out, BFloat16 value);

}  // namespace sptile::formats
