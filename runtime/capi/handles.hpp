// What the handles of the C interface hold.
#pragma once

#include <memory>

#include "runtime/bundle/bundle.hpp"
#include "runtime/plan/plan.hpp"

struct sptile_bundle {
  std::shared_ptr<const sptile::runtime::Bundle> bundle;
};

struct sptile_plan {
  std::shared_ptr<sptile::runtime::ProductPlan> plan;
};

namespace sptile::runtime {

/// A planning function: its name, for messages, and its operation.
struct PlanCall {
  const char* name;
  const Operation& op;
};

/// Hands a new plan out.
inline Status give_plan(Result<std::shared_ptr<ProductPlan>> plan, sptile_plan** out) {
  if (!plan) return tl::unexpected(plan.error());
  *out = new sptile_plan{std::move(*plan)};
  return {};
}

}  // namespace sptile::runtime
