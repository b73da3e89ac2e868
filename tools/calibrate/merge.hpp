// New constants of a device beside those it had.
#pragma once

#include <span>
#include <vector>

#include "runtime/choice/device_profile.hpp"

namespace sptile::tools {

/// Puts new numbers in the place of those of the same name. Costs belong together: those of a kernel and
/// precision that has new ones go, and those for any precision of such a kernel. All other numbers stay, but
/// costs only unless `renews_all`: then what was not measured is not known any more.
std::vector<runtime::ProfileNumber> merge_numbers(std::span<const runtime::ProfileNumber> known,
                                                  std::span<const runtime::ProfileNumber> measured,
                                                  bool renews_all);

}  // namespace sptile::tools
