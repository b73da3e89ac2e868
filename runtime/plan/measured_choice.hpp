// Choice of a plan by running the candidates.
#pragma once

#include <span>

#include "runtime/plan/choice.hpp"

namespace sptile::runtime {

/// The operation and options to measure, and the function that creates plans.
struct MeasuringRequest {
  const Operation& op;
  std::span<const PlanMatrix> matrices;
  const PlanOptions& options;
  const PlanOne& plan_one;
};

/// Sets measured_us of the promising candidates, updates `chosen` to the fastest and keeps its plan. Does
/// nothing if there are fewer than two. See choose_plan.
Status measure_candidates(const MeasuringRequest& request, ChosenPlan& chosen);

}  // namespace sptile::runtime
