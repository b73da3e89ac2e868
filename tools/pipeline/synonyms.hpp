// Synonyms of verbs, options, devices, types and other names, as used by other programs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sptile::tools {

/// Returns the first known name that is a synonym of `word` or differs only in case; empty if there is none.
std::string same_meaning(std::string_view word, const std::vector<std::string>& known);

}  // namespace sptile::tools
