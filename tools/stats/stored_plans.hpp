// Stored plans, as the command shows them.
#pragma once

#include <span>
#include <string>

#include "runtime/core/stored_plan.hpp"
#include "tools/cli/result.hpp"

namespace sptile::tools {

/// One plan with the keys of `run`, and the device that it is for.
Json to_json(const runtime::StoredPlan& plan);

/// A table, with its head.
std::string plans_text(std::span<const runtime::StoredPlan> plans);

}  // namespace sptile::tools
