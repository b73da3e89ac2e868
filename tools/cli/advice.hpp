// Advice for calls without a verb.
#pragma once

#include <optional>
#include <string>

namespace sptile::tools {

/// Returns the text of `sptile` without arguments: a summary, example commands, and a pointer to the help.
std::string tour();

/// Returns the text of `sptile FILE`: the verbs that support the file's kind, as commands. Nullopt unless
/// FILE is a known kind by its contents or name.
std::optional<std::string> advice_on_file(const std::string& path);

}  // namespace sptile::tools
