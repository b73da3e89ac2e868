// Planning for CUDA devices.
#include <string>
#include <vector>

#include "runtime/choice/profiles.hpp"
#include "runtime/cuda/backend.hpp"
#include "runtime/kernels/kernels.hpp"
#include "runtime/plan/product_plan.hpp"

namespace sptile::runtime {
namespace {

/// Numbers of the device's profile that divide the kernel's work; most kernels have none.
Result<std::vector<cuda::KernelCost>> find_costs(const KernelChoice& chosen, const cuda::DeviceInfo& device) {
  std::vector<cuda::KernelCost> costs;
  if (chosen.kernel->costs.empty()) return costs;
  const auto profile = find_profile(profile_device(Device::cuda, device));
  if (!profile) return tl::unexpected(profile.error());
  if (!*profile) return costs;
  for (const std::string_view name : chosen.kernel->costs)
    if (const auto known = (*profile)->find(chosen.kernel->name, name_of(chosen.instance->precision), name))
      costs.push_back({name, *known});
  return costs;
}

}  // namespace

Status plan_on_device(ProductPlan& plan, const cuda::DeviceInfo& device, const DeviceMatrix& on_device) {
  const auto chosen =
      choose_kernel({plan.op, plan.matrix.format.layout->name, plan.values}, plan.options, device);
  if (!chosen) return tl::unexpected(chosen.error());
  const auto costs = find_costs(*chosen, device);
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
