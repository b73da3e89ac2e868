// Chooses by running: what each candidate takes on this machine.
#pragma once

#include <span>

#include "runtime/plan/choice.hpp"

namespace sptile::runtime {

/// What is measured, and how plans are made.
struct MeasuringRequest {
  const Operation& op;
  std::span<const PlanMatrix> matrices;
  const PlanOptions& options;
  const PlanOne& plan_one;
};

/// Fills in measured_us of the candidates that are worth it, moves `chosen` to the fastest and keeps its
/// plan; leaves a list with fewer than two of them as it is. See choose_plan.
Status measure_candidates(const MeasuringRequest& request, ChosenPlan& chosen);

}  // namespace sptile::runtime
