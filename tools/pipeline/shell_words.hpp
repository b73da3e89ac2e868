// Commands that are proposed, as one types them.
#pragma once

#include <string>
#include <vector>

namespace sptile::tools {

/// A word for a POSIX shell: quoted where it needs to be, safe as an operand even if it starts with a dash.
std::string shell_word(const std::string& word);

/// A command line that a shell reads as these words; options among them stay options.
std::string shell_line(const std::vector<std::string>& words);

}  // namespace sptile::tools
