#include "runtime/choice/kernel_costs.hpp"

#include "runtime/choice/profiles.hpp"

namespace sptile::runtime {

std::vector<cuda::KernelCost> kernel_costs(const DeviceProfile& profile, const Kernel& kernel,
                                           Precision precision) {
  std::vector<cuda::KernelCost> costs;
  for (const std::string_view name : kernel.costs) {
    auto known = profile.find(kernel.name, name_of(precision), name);
    if (!known && !kernel.like.empty()) known = profile.find(kernel.like, name_of(precision), name);
    if (known) costs.push_back({name, *known});
  }
  return costs;
}

Result<std::vector<cuda::KernelCost>> find_kernel_costs(const cuda::DeviceInfo& device, const Kernel& kernel,
                                                        Precision precision) {
  if (kernel.costs.empty()) return std::vector<cuda::KernelCost>();
  const auto profile = find_profile(profile_device(Device::cuda, device));
  if (!profile) return tl::unexpected(profile.error());
  return *profile ? kernel_costs(**profile, kernel, precision) : std::vector<cuda::KernelCost>();
}

}  // namespace sptile::runtime
