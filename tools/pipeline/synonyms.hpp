// Other words for the names of verbs, options, devices, types ...: what people bring along from other
// programs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sptile::tools {

/// The first known name, as it is written there, that means the same as `word`, or differs in small and
/// capital letters only; empty when none does.
std::string same_meaning(std::string_view word, const std::vector<std::string>& known);

}  // namespace sptile::tools
