// Plans for one of several formats: the one that is predicted, or measured, to be fastest.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "runtime/choice/prediction.hpp"
#include "runtime/plan/plan.hpp"

namespace sptile::runtime {

/// The chosen plan and the candidates.
struct ChosenPlan {
  std::vector<Candidate> candidates;  ///< with the predictions that the choice required
  std::shared_ptr<ProductPlan> plan;
};

/// A stored plan: its matrix and kernel.
struct StoredChoice {
  std::size_t matrix = 0;
  std::string_view kernel;
};

/// Returns the most recently stored plan that the options allow, regardless of predictions; nullopt if there
/// is none, or with options.choice measured. Errors as for plan_product.
Result<std::optional<StoredChoice>> stored_choice(const Operation& op, std::span<const PlanMatrix> matrices,
                                                  const PlanOptions& options);

/// Plans with the result of stored_choice if there is one. Otherwise plans the candidate with the lowest
/// predicted time or, with options.choice measured and several usable candidates, the fastest one: each is
/// planned and run several times on random operands (on CUDA in device memory, on the default stream), in the
/// order of predictions and for at most options.budget seconds, but at least one.
/// Candidates that are predicted to take more than kHopeless times the best are skipped if all have
/// predictions, and those that exceed the device memory are refused. If no candidate is usable, returns the
/// error of planning the first matrix. Errors as for predict_product and plan_product; Errc::device or
/// Errc::io, with the size in bytes, if memory for the operands is insufficient.
Result<ChosenPlan> choose_plan(const Operation& op, std::span<const PlanMatrix> matrices,
                               const PlanOptions& options);

inline constexpr double kHopeless = 3;

/// Plans matrix number `matrix` of the list.
using PlanOne = std::function<Result<std::shared_ptr<ProductPlan>>(std::size_t matrix, const PlanOptions&)>;

/// Chooses in the same way, and creates plans with `plan_one`.
Result<ChosenPlan> choose_plan(const Operation& op, std::span<const PlanMatrix> matrices,
                               const PlanOptions& options, const PlanOne& plan_one);

/// Returns only the plan.
Result<std::shared_ptr<ProductPlan>> plan_product(const Operation& op, std::span<const PlanMatrix> matrices,
                                                  const PlanOptions& options);

/// Predicts the time in microseconds of a plan of `a` with these options; nullopt if the profile has no model
/// of its kernel. `a` must be the planned matrix. Errors as for predict_product.
Result<std::optional<double>> predict_plan(const ProductPlan& plan, const PlanMatrix& a,
                                           const PlanOptions& options);

}  // namespace sptile::runtime
