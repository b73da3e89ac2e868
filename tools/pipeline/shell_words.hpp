// Quoting of proposed commands.
#pragma once

#include <string>
#include <vector>

namespace sptile::tools {

/// Returns a word quoted for a POSIX shell if necessary, and safe as an operand even if it starts with a
/// dash.
std::string shell_word(const std::string& word);

/// Returns a command line that a shell splits into these words; options remain options.
std::string shell_line(const std::vector<std::string>& words);

}  // namespace sptile::tools
