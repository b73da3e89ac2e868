// Splits lines into words.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace sptile::formats {

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }

inline constexpr std::size_t kMaxWords = 6;

/// Words of a line, separated by blanks and tabs. `count` also counts words past kMaxWords.
struct Words {
  std::array<std::string_view, kMaxWords> word;
  std::size_t count = 0;
};

inline Words split_words(std::string_view line) {
  Words words;
  for (std::size_t i = 0;;) {
    while (i < line.size() && is_blank(line[i])) ++i;
    if (i == line.size()) return words;
    const std::size_t begin = i;
    while (i < line.size() && !is_blank(line[i])) ++i;
    if (words.count < kMaxWords) words.word[words.count] = line.substr(begin, i - begin);
    ++words.count;
  }
}

}  // namespace sptile::formats
