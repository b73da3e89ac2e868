// Planning for CUDA devices.
#include <string>

#include "runtime/choice/kernel_costs.hpp"
#include "runtime/cuda/backend.hpp"
#include "runtime/kernels/kernels.hpp"
#include "runtime/plan/product_plan.hpp"
#include "runtime/plan/stored.hpp"

namespace sptile::runtime {
namespace {

/// What is wrong: first of all the matrix, which nobody has looked at yet when it is not proven.
Status explain(const HeldFormat& held, const StoredPlan* stored, const Error& error) {
  if (!held.proven)
    if (Status s = check_held(held); !s) return s;
  if (error.code == Errc::bad_input && stored != nullptr) return refuse_stored(*stored, error.message);
  return fail(error.code, "plan: " + error.message);
}

}  // namespace

Status plan_on_device(ProductPlan& plan, const cuda::DeviceInfo& device) {
  const auto stored = find_stored(*plan.op, {&plan.held->matrix, 1}, plan.options, device);
  if (stored && !plan.options.trusted)
    if (Status s = check_hashes(*stored->plan); !s) return s;
  const auto chosen =
      stored ? stored->kernel
             : choose_kernel({plan.op, plan.matrix.format.layout->name, plan.values}, plan.options, device);
  if (!chosen) return tl::unexpected(chosen.error());
  const auto costs = find_kernel_costs(device, *chosen->kernel, chosen->instance->precision);
  if (!costs) return tl::unexpected(costs.error());
  plan.kernel = chosen->kernel;
  plan.precision = chosen->instance->precision;
  HeldFormat& held = *plan.held;
  const std::lock_guard lock(held.uploading);  // one plan uploads, others wait for it
  auto made = cuda::make_plan({.op = plan.op,
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
                               .stored = stored ? &stored->plan->schedule : nullptr});
  if (!made) return explain(held, stored ? stored->plan : nullptr, made.error());
  plan.stored = stored.has_value();
  plan.on_device = std::move(*made);
  held.proven = true;
  held.on_device = cuda::matrix_of(*plan.on_device);
  return {};
}

}  // namespace sptile::runtime
