#include "runtime/plan/choice.hpp"

#include <utility>

#include "runtime/plan/measured_choice.hpp"
#include "runtime/plan/product_plan.hpp"
#include "runtime/plan/stored.hpp"

namespace sptile::runtime {

Result<std::optional<StoredChoice>> stored_choice(const Operation& op, std::span<const PlanMatrix> matrices,
                                                  const PlanOptions& options) {
  const bool possible = options.choice == Choice::predicted && !matrices.empty();
  if (!possible || matrices.front().stored.empty()) return std::nullopt;
  const auto device = check_options(options);
  if (!device) return tl::unexpected(device.error());
  const auto found = find_stored(op, matrices, options, *device);
  if (!found) return std::nullopt;
  return StoredChoice{found->matrix, found->kernel.kernel->name};
}

Result<ChosenPlan> choose_plan(const Operation& op, std::span<const PlanMatrix> matrices,
                               const PlanOptions& options) {
  return choose_plan(op, matrices, options, [&](std::size_t matrix, const PlanOptions& one) {
    return plan_product(op, matrices[matrix], one);
  });
}

Result<ChosenPlan> choose_plan(const Operation& op, std::span<const PlanMatrix> matrices,
                               const PlanOptions& options, const PlanOne& plan_one) {
  const auto stored = stored_choice(op, matrices, options);
  if (!stored) return tl::unexpected(stored.error());
  if (*stored) {
    PlanOptions same = options;
    same.kernel = (*stored)->kernel;
    auto plan = plan_one((*stored)->matrix, same);
    if (!plan) return tl::unexpected(plan.error());
    return ChosenPlan{{}, std::move(*plan)};
  }
  const Detail detail = options.choice == Choice::measured ? Detail::predictions : Detail::choice;
  auto list = predict_product(op, matrices, options, detail);
  if (!list) return tl::unexpected(list.error());
  ChosenPlan chosen{std::move(*list), nullptr};
  if (options.choice == Choice::measured)
    if (Status s = measure_candidates({op, matrices, options, plan_one}, chosen); !s)
      return tl::unexpected(s.error());
  if (chosen.plan) return chosen;
  const Candidate* const best = chosen_of(chosen.candidates);
  PlanOptions with_kernel = options;
  if (best != nullptr) with_kernel.kernel = best->kernel->name;
  auto plan = plan_one(best != nullptr ? best->matrix : 0, with_kernel);
  if (!plan) return tl::unexpected(plan.error());
  chosen.plan = std::move(*plan);
  return chosen;
}

Result<std::shared_ptr<ProductPlan>> plan_product(const Operation& op, std::span<const PlanMatrix> matrices,
                                                  const PlanOptions& options) {
  auto chosen = choose_plan(op, matrices, options);
  if (!chosen) return tl::unexpected(chosen.error());
  return std::move(chosen->plan);
}

Result<std::optional<double>> predict_plan(const ProductPlan& plan, const PlanMatrix& a,
                                           const PlanOptions& options) {
  PlanOptions same = options;
  same.kernel = kernel_name(plan);
  const auto list = predict_product(*plan.op, {&a, 1}, same);
  if (!list) return tl::unexpected(list.error());
  const Candidate* const planned = chosen_of(*list);
  return planned != nullptr ? planned->predicted_us : std::nullopt;
}

}  // namespace sptile::runtime
