// Choice of a plan by running the candidates.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
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

/// Plans `count` alternatives with `plan_one`, runs each several times on random operands and returns the
/// fastest. `a` gives the size of the matrix. Alternatives that are refused, or exceed the device memory, are
/// skipped; if all are, returns the error of the first. Without memory for operands, returns the first
/// alternative, because a framework may hold the free memory of the device.
Result<std::shared_ptr<ProductPlan>> fastest_plan(
    const Operation& op, const formats::FormatView& a, const PlanOptions& options, std::size_t count,
    const std::function<Result<std::shared_ptr<ProductPlan>>(std::size_t)>& plan_one);

}  // namespace sptile::runtime
