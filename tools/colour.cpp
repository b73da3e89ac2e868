#include "tools/colour.hpp"

#include <cstdlib>

#include "tools/terminal.hpp"

namespace sptile::tools {
namespace {

struct Coloured {
  bool output = false, errors = false;
};
Coloured& coloured() {
  static Coloured streams;
  return streams;
}

// In the order of Style: bold, red, yellow, green, red. The colours are those of the terminal's own palette.
constexpr std::string_view kCodes[] = {"\033[1m", "\033[1;31m", "\033[33m", "\033[32m", "\033[1;31m"};
constexpr std::string_view kEnd = "\033[0m";

std::string_view environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

bool is_coloured(ColourMode mode, std::FILE* stream) {
  if (mode != ColourMode::automatic) return mode == ColourMode::always;
  if (!environment("NO_COLOR").empty()) return false;
  if (const std::string_view forced = environment("CLICOLOR_FORCE"); !forced.empty() && forced != "0")
    return true;
  return is_capable_terminal(stream);
}

}  // namespace

void choose_colours(ColourMode mode) { coloured() = {is_coloured(mode, stdout), is_coloured(mode, stderr)}; }

std::string paint(Style style, std::string_view text, std::FILE* stream) {
  if (text.empty() || !(stream == stderr ? coloured().errors : coloured().output)) return std::string(text);
  return std::string(kCodes[static_cast<std::size_t>(style)]).append(text).append(kEnd);
}

}  // namespace sptile::tools
