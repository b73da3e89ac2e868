// Planning for CUDA devices.
#include <string>

#include "runtime/choice/kernel_costs.hpp"
#include "runtime/cuda/backend.hpp"
#include "runtime/kernels/kernels.hpp"
#include "runtime/plan/product_plan.hpp"

namespace sptile::runtime {
Status plan_on_device(ProductPlan& plan, const cuda::DeviceInfo& device, const DeviceMatrix& on_device) {
  const auto chosen =
      choose_kernel({plan.op, plan.matrix.format.layout->name, plan.values}, plan.options, device);
  if (!chosen) return tl::unexpected(chosen.error());
  const auto costs = find_kernel_costs(device, *chosen->kernel, chosen->instance->precision);
  if (!costs) return tl::unexpected(costs.error());
  plan.kernel = chosen->kernel;
  plan.precision = chosen->instance->precision;
  auto made = cuda::make_plan({.op = plan.op,
                               .matrix = &plan.matrix,
                               .on_device = on_device.format,
                               .device_row_order = on_device.row_order,
                               .kernel = chosen->instance,
                               .n = plan.options.n,
                               .refreshable = plan.options.refreshable,
                               .device = device,
                               .costs = *costs});
  if (!made) return fail(made.error().code, "plan: " + made.error().message);
  plan.on_device = std::move(*made);
  plan.matrix.row_order = {};  // all that is needed is on the device now
  plan.matrix.owner.reset();
  for (ArrayView& array : plan.matrix.format.arrays) array.data = nullptr;
  return {};
}

}  // namespace sptile::runtime
