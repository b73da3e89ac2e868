// Output of stored plans.
#pragma once

#include <span>
#include <string>

#include "runtime/core/stored_plan.hpp"
#include "tools/cli/result.hpp"

namespace sptile::tools {

/// Returns one plan with the keys of `run`, and its device.
Json to_json(const runtime::StoredPlan& plan);

/// Returns a table with a header.
std::string plans_text(std::span<const runtime::StoredPlan> plans);

}  // namespace sptile::tools
