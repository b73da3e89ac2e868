// Colours of what is printed on a terminal: --color, NO_COLOR and CLICOLOR_FORCE decide.
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

/// What a text is, not how it looks.
enum class Style { heading, error, warning, good, bad };

/// Decides for both streams, before anything is printed; until then nothing is coloured. Automatic: NO_COLOR,
/// not empty, wins over CLICOLOR_FORCE, not 0; without both, terminals have colours and pipes and files have
/// none.
void choose_colours(ColourMode mode);

/// Bytes of the code of paint() that a text starts with, where the stream is coloured; 0 else.
std::size_t colour_code(std::string_view text, std::FILE* stream);

/// The text with the colours of its style around it, or as it stands.
std::string paint(Style style, std::string_view text, std::FILE* stream = stdout);

}  // namespace sptile::tools
