#include "tools/cli/text_layout.hpp"

#include <algorithm>
#include <cstddef>

namespace sptile::tools {
namespace {

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Returns the length in bytes of a color code at the start, such as "\033[1;31m"; 0 if there is none.
std::size_t colour_length(std::string_view text) {
  if (!text.starts_with("\033[")) return 0;
  const std::size_t end = text.find_first_not_of("0123456789;", 2);
  return end != std::string_view::npos && text[end] == 'm' ? end + 1 : 0;
}

// Returns the first characters of a text; tail returns the last ones.
std::string_view head(std::string_view text, int width) {
  std::size_t end = 0;
  while (end < text.size() && (width > 0 || continues_character(text[end]))) {
    if (!continues_character(text[end])) --width;
    ++end;
  }
  while (end < text.size() && continues_character(text[end])) ++end;
  return text.substr(0, end);
}

std::string_view tail(std::string_view text, int width) {
  std::size_t start = text.size();
  while (start > 0 && width > 0) {
    --start;
    if (!continues_character(text[start])) --width;
  }
  return text.substr(start);
}

// Returns the length of the longest part of a word that ends at a comma and fits `width` columns; all of it
// if it fits or has no such comma.
std::size_t part_that_fits(std::string_view word, int width) {
  if (display_width(word) <= width) return word.size();
  const std::size_t comma = head(word, width).rfind(',');
  return comma == std::string_view::npos ? word.size() : comma + 1;
}

}  // namespace

int display_width(std::string_view text) {
  int width = 0;
  for (std::size_t i = 0; i < text.size();) {
    if (const std::size_t colour = colour_length(text.substr(i)); colour > 0) {
      i += colour;
      continue;
    }
    width += !continues_character(text[i++]);
  }
  return width;
}

std::string shorten(std::string_view text, int width) {
  constexpr std::string_view kGap = "...";
  if (display_width(text) <= width) return std::string(text);
  const int kept = width - static_cast<int>(kGap.size());
  if (kept < 2) return std::string(head(text, std::max(width, 0)));
  return std::string(head(text, kept - kept / 2)).append(kGap).append(tail(text, kept / 2));
}

std::string wrap(std::string_view text, int width, int indent, int used) {
  std::string result;
  int column = used;
  bool starts_line = true;  // the line contains no text yet
  const auto break_line = [&] {
    result.append("\n").append(static_cast<std::size_t>(indent), ' ');
    column = indent;
    starts_line = true;
  };
  const auto put = [&](std::string_view word) {
    if (!starts_line && column + 1 + display_width(word) > width) break_line();
    if (!starts_line) result += ' ';
    result += word;
    column += display_width(word) + !starts_line;
    starts_line = false;
  };
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(" \n"), text.size());
    std::string_view word = text.substr(0, end);
    for (std::size_t part; (part = part_that_fits(word, width - indent)) < word.size();
         word.remove_prefix(part)) {
      put(word.substr(0, part));
      break_line();
    }
    if (!word.empty()) put(word);
    if (end < text.size() && text[end] == '\n') break_line();
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

std::string entry(std::string_view name, std::string_view text, int column, int width) {
  constexpr int kBelow = 6, kMinText = 20;
  std::string line = "  " + wrap(name, width, 4, 2);
  if (text.empty()) return line + "\n";
  if (width - column < kMinText) column = kBelow;
  const int used = display_width(std::string_view(line).substr(line.rfind('\n') + 1));
  if (used < column)
    line.append(static_cast<std::size_t>(column - used), ' ');
  else
    line.append("\n").append(static_cast<std::size_t>(column), ' ');
  return line + wrap(text, width, column, column) + "\n";
}

}  // namespace sptile::tools
