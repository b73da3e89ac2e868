// Colors of terminal output, controlled by --color, NO_COLOR and CLICOLOR_FORCE.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

namespace sptile::tools {

enum class ColourMode { automatic, always, never };

struct ColourModeRow {
  std::string_view name;
  ColourMode mode;
};
inline constexpr ColourModeRow kColourModes[] = {
    {"auto", ColourMode::automatic}, {"always", ColourMode::always}, {"never", ColourMode::never}};

/// Meaning of a text, which determines its color.
enum class Style { heading, error, warning, good, bad };

/// Decides for both streams. Call it before anything is printed; until then output has no colors. Automatic:
/// a nonempty NO_COLOR overrides a CLICOLOR_FORCE other than 0; without both, only terminals have colors.
void choose_colours(ColourMode mode);

/// Returns the length in bytes of a color code at the start of the text if the stream has colors; 0
/// otherwise.
std::size_t colour_code(std::string_view text, std::FILE* stream);

/// Returns the text with the colors of its style, or unchanged if the stream has none.
std::string styled(Style style, std::string_view text, std::FILE* stream = stdout);

}  // namespace sptile::tools
