// Planning for CUDA devices.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/choice/kernel_costs.hpp"
#include "runtime/cuda/backend.hpp"
#include "runtime/kernels/kernels.hpp"
#include "runtime/plan/kernel_choice.hpp"
#include "runtime/plan/product_plan.hpp"
#include "runtime/plan/stored.hpp"

namespace sptile::runtime {
namespace {

/// Returns the cause of an error: first checks the matrix if its contents were not checked before.
Status explain(const HeldFormat& held, const StoredPlan* stored, const Error& error) {
  if (!held.proven)
    if (Status s = check_held(held); !s) return s;
  if (error.code == Errc::bad_input && stored != nullptr) return refuse_stored(*stored, error.message);
  return fail(error.code, "plan: " + error.message);
}

/// Kernel that runs before the kernel of the plan.
struct FirstKernel {
  const Operation* op;
  KernelChoice choice;
  std::vector<cuda::KernelCost> costs;
};

Result<std::optional<FirstKernel>> first_step(const ProductPlan& plan, const KernelChoice& chosen,
                                              const cuda::DeviceInfo& device) {
  const FirstStep* const step = chosen.kernel->first;
  if (step == nullptr) return std::nullopt;
  const auto first =
      choose_kernel({step->op, plan.matrix.format.layout->name, plan.values, plan.matrix.format.cols},
                    options_of_first(plan.options), device);
  if (!first) return tl::unexpected(first.error());
  auto costs = find_kernel_costs(device, *first->kernel, first->instance->precision);
  if (!costs) return tl::unexpected(costs.error());
  return FirstKernel{step->op, *first, std::move(*costs)};
}

/// Request for the first kernel, with the same matrix and columns.
cuda::PlanRequest request_of(const FirstKernel& first, const cuda::PlanRequest& whole) {
  cuda::PlanRequest request = whole;
  request.op = first.op;
  request.kernel = first.choice.instance;
  request.variant = {};
  request.costs = first.costs;
  request.csr_lists = false;
  request.stored = nullptr;
  return request;
}

}  // namespace

Status plan_on_device(ProductPlan& plan, const cuda::DeviceInfo& device) {
  const auto stored = find_stored(*plan.op, {&plan.held->matrix, 1}, plan.options, device);
  if (stored && !plan.options.trusted)
    if (Status s = check_hashes(*stored->plan); !s) return s;
  const auto chosen =
      stored ? stored->kernel : choose_held_kernel(*plan.op, *plan.held, plan.options, device);
  if (!chosen) return tl::unexpected(chosen.error());
  const auto costs = find_kernel_costs(device, *chosen->kernel, chosen->instance->precision);
  if (!costs) return tl::unexpected(costs.error());
  plan.kernel = chosen->kernel;
  plan.precision = chosen->instance->precision;
  HeldFormat& held = *plan.held;
  const auto first = first_step(plan, *chosen, device);
  if (!first) return tl::unexpected(first.error());
  const std::lock_guard lock(held.uploading);  // one plan uploads, others wait
  cuda::PlanRequest request = {.op = plan.op,
                               .matrix = &held.matrix,
                               .on_device = held.on_device,
                               .kernel = chosen->instance,
                               .n = plan.options.n,
                               .variant = plan.options.variant,
                               .refreshable = held.options.refreshable && held.dtype != DType::none,
                               .csr_lists = lists_in_csr_order(*plan.op, plan.options),
                               .unproven = !held.proven,
                               .device = device,
                               .costs = *costs,
                               .stored = stored ? &stored->plan->schedule : nullptr};
  cuda::PlanRequest before = request;
  if (*first) {
    before = request_of(**first, request);
    request.first = &before;
    request.operands_of_first = chosen->kernel->first->operands;
  }
  auto made = cuda::make_plan(request);
  if (!made) return explain(held, stored ? stored->plan : nullptr, made.error());
  plan.stored = stored.has_value();
  plan.on_device = std::move(*made);
  held.proven = true;
  held.on_device = cuda::matrix_of(*plan.on_device);
  return {};
}

}  // namespace sptile::runtime
