// Numbers of a profile by which kernels divide their work.
#pragma once

#include <vector>

#include "runtime/choice/device_profile.hpp"
#include "runtime/core/kernel.hpp"
#include "runtime/cuda/device_kernel.hpp"

namespace sptile::runtime {

/// Those that the kernel wants and the profile has, of the precision or else of any.
std::vector<cuda::KernelCost> kernel_costs(const DeviceProfile& profile, const Kernel& kernel,
                                           Precision precision);

/// The same of the profile in use for a device; none for a kernel that wants none, and where there is no
/// profile. Errors as find_profile.
Result<std::vector<cuda::KernelCost>> find_kernel_costs(const cuda::DeviceInfo& device, const Kernel& kernel,
                                                        Precision precision);

}  // namespace sptile::runtime
