#include "tools/cli/colour.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "tools/cli/terminal.hpp"

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

bool is_coloured(std::FILE* stream) { return stream == stderr ? coloured().errors : coloured().output; }

std::string_view environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

bool uses_colours(ColourMode mode, std::FILE* stream) {
  if (mode != ColourMode::automatic) return mode == ColourMode::always;
  if (!environment("NO_COLOR").empty()) return false;
  if (const std::string_view forced = environment("CLICOLOR_FORCE"); !forced.empty() && forced != "0")
    return true;
  return is_capable_terminal(stream);
}

}  // namespace

void choose_colours(ColourMode mode) {
  coloured() = {uses_colours(mode, stdout), uses_colours(mode, stderr)};
}

std::size_t colour_code(std::string_view text, std::FILE* stream) {
  if (!is_coloured(stream)) return 0;
  if (text.starts_with(kEnd)) return kEnd.size();
  const auto* const code = std::find_if(std::begin(kCodes), std::end(kCodes),
                                        [&](std::string_view c) { return text.starts_with(c); });
  return code == std::end(kCodes) ? 0 : code->size();
}

std::string styled(Style style, std::string_view text, std::FILE* stream) {
  if (text.empty() || !is_coloured(stream)) return std::string(text);
  return std::string(kCodes[static_cast<std::size_t>(style)]).append(text).append(kEnd);
}

}  // namespace sptile::tools
