// Merge of new constants with those of an existing profile.
#pragma once

#include <span>
#include <vector>

#include "runtime/choice/device_profile.hpp"

namespace sptile::tools {

/// Replaces numbers of the same name. Costs of one kernel and precision are replaced together, and also the
/// kernel's costs for any precision. All other numbers are kept, except that `renews_all` drops the costs
/// that were not measured.
std::vector<runtime::ProfileNumber> merge_numbers(std::span<const runtime::ProfileNumber> known,
                                                  std::span<const runtime::ProfileNumber> measured,
                                                  bool renews_all);

}  // namespace sptile::tools
