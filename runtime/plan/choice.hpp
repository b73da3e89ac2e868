// Plans for one of several formats: the one predicted to be fastest, or the one that is.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "runtime/choice/prediction.hpp"
#include "runtime/plan/plan.hpp"

namespace sptile::runtime {

/// What was chosen, and what there was to choose from.
struct ChosenPlan {
  std::vector<Candidate> candidates;  ///< with predictions as far as the choice needed them
  std::shared_ptr<ProductPlan> plan;
};

/// A stored plan that is as good as made: which matrix, which kernel.
struct StoredChoice {
  std::size_t matrix = 0;
  std::string_view kernel;
};

/// Finds the plan that was stored last of those that the options allow, whatever is predicted; nothing with
/// options.choice measured, and where there is none. Errors as plan_product.
Result<std::optional<StoredChoice>> stored_choice(const Operation& op, std::span<const PlanMatrix> matrices,
                                                  const PlanOptions& options);

/// Plans with the stored_choice, where there is one; else with the candidate that is predicted fastest, or,
/// with options.choice measured and several that can run, with the one that is. Each of those is planned and
/// run some times on random operands of its own (on CUDA in device memory, on the default stream), but those
/// predicted to take more than kHopeless times the best one only when some have no prediction. What has no
/// room on the device is refused. When none can run, gives the error of planning the first matrix. Errors as
/// predict_product and plan_product; Errc::device or Errc::io naming the bytes when there is no room for the
/// operands.
Result<ChosenPlan> choose_plan(const Operation& op, std::span<const PlanMatrix> matrices,
                               const PlanOptions& options);

inline constexpr double kHopeless = 3;

/// Plans for the matrix of that place in the list.
using PlanOne = std::function<Result<std::shared_ptr<ProductPlan>>(std::size_t matrix, const PlanOptions&)>;

/// The same with plans that are made otherwise than by themselves.
Result<ChosenPlan> choose_plan(const Operation& op, std::span<const PlanMatrix> matrices,
                               const PlanOptions& options, const PlanOne& plan_one);

/// The plan alone.
Result<std::shared_ptr<ProductPlan>> plan_product(const Operation& op, std::span<const PlanMatrix> matrices,
                                                  const PlanOptions& options);

/// Predicts the microseconds of a plan made of `a` with these options; nothing without a model of its kernel.
/// `a` is the matrix that was planned. Errors as predict_product.
Result<std::optional<double>> predict_plan(const ProductPlan& plan, const PlanMatrix& a,
                                           const PlanOptions& options);

}  // namespace sptile::runtime
