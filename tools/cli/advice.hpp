// What is told to those who do not know yet which command they want.
#pragma once

#include <optional>
#include <string>

namespace sptile::tools {

/// A few lines for `sptile` alone: what it is, commands to try, where help is.
std::string tour();

/// For `sptile FILE`: which verbs fit that kind of file, and how they are typed. Nothing for what neither is
/// a file that sptile knows by its contents or its name, nor has such a name.
std::optional<std::string> advice_on_file(const std::string& path);

}  // namespace sptile::tools
