// Planning for CUDA devices.
#include <string>

#include "runtime/choice/kernel_costs.hpp"
#include "runtime/cuda/backend.hpp"
#include "runtime/kernels/kernels.hpp"
#include "runtime/plan/product_plan.hpp"

namespace sptile::runtime {

Status plan_on_device(ProductPlan& plan, const cuda::DeviceInfo& device) {
  const auto chosen =
      choose_kernel({plan.op, plan.matrix.format.layout->name, plan.values}, plan.options, device);
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
                               .refreshable = held.options.refreshable,
                               .device = device,
                               .costs = *costs});
  if (!made) return fail(made.error().code, "plan: " + made.error().message);
  plan.on_device = std::move(*made);
  held.on_device = cuda::matrix_of(*plan.on_device);
  return {};
}

}  // namespace sptile::runtime
