// Escaping of text from files and file names before it is printed: terminals interpret control bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sptile {

/// First character of a text.
struct FirstCharacter {
  std::size_t bytes = 1;
  char32_t code = 0;
  bool valid = false;  ///< false: the byte does not start valid UTF-8
};

/// Decodes the first character of a nonempty text.
constexpr FirstCharacter first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return {1, first, true};
  const std::size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < bytes) return {};
  char32_t code = first & (0xffu >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3fu);
  }
  constexpr char32_t kMin[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  if (code < kMin[bytes] || code > 0x10ffff || surrogate) return {};
  return {bytes, code, true};
}

/// Returns false for control characters other than line feed and tab, and for characters that change the
/// direction or the line structure of the surrounding text.
constexpr bool is_printable(char32_t code) {
  struct Range {
    char32_t first, last;
  };
  constexpr Range kHidden[] = {{0, 8},           {0xb, 0x1f},      {0x7f, 0x9f},
                               {0x61c, 0x61c},   {0x200e, 0x200f}, {0x2028, 0x202e},
                               {0x2066, 0x2069}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}};
  for (const Range& range : kHidden)
    if (code >= range.first && code <= range.last) return false;
  return true;
}

/// Passes `text` to sink(std::string_view) in pieces. Printable text is unchanged, control bytes and bytes
/// that are not UTF-8 become \xNN, and other characters become \uNNNN, which is valid in JSON too. Allocates
/// nothing.
template <class Sink>
void show(std::string_view text, const Sink& sink) {
  constexpr std::string_view kHex = "0123456789abcdef";
  while (!text.empty()) {
    std::size_t plain = 0;
    FirstCharacter first;
    while (plain < text.size()) {
      first = first_character(text.substr(plain));
      if (!first.valid || !is_printable(first.code)) break;
      plain += first.bytes;
    }
    if (plain > 0) sink(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) return;
    const bool is_byte = !first.valid || first.code < 0x20;
    const std::uint32_t number = is_byte ? static_cast<unsigned char>(text.front()) : first.code;
    const std::array<char, 6> escape = {'\\',
                                        is_byte ? 'x' : 'u',
                                        kHex[number >> 12 & 15],
                                        kHex[number >> 8 & 15],
                                        kHex[number >> 4 & 15],
                                        kHex[number & 15]};
    sink(std::string_view(escape.data(), 2));
    sink(std::string_view(escape.data() + (is_byte ? 4 : 2), is_byte ? 2 : 4));
    text.remove_prefix(is_byte ? 1 : first.bytes);
  }
}

/// Returns the text escaped by show().
inline std::string printable(std::string_view text) {
  std::string shown;
  show(text, [&](std::string_view piece) { shown += piece; });
  return shown;
}

}  // namespace sptile
