// Constants of a profile by which kernels divide their work.
#pragma once

#include <vector>

#include "runtime/choice/device_profile.hpp"
#include "runtime/core/kernel.hpp"
#include "runtime/cuda/device_kernel.hpp"

namespace sptile::runtime {

/// Returns the constants that the kernel uses and the profile has, its own or else those of the kernel
/// `like`, for the precision, otherwise for any.
std::vector<cuda::KernelCost> kernel_costs(const DeviceProfile& profile, const Kernel& kernel,
                                           Precision precision);

/// Returns the constants from the profile in use for a device; empty if the kernel uses none or there is no
/// profile. Errors as for find_profile.
Result<std::vector<cuda::KernelCost>> find_kernel_costs(const cuda::DeviceInfo& device, const Kernel& kernel,
                                                        Precision precision);

}  // namespace sptile::runtime
