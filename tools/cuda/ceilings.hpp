// Measured memory bandwidths of a device.
#pragma once

#include "runtime/cuda/device_kernel.hpp"
#include "tools/measure/roofline.hpp"

namespace sptile::tools::cuda {

/// Measures the current device: a copy of 1 GiB on the device, repeated reads of half of the L2 cache, and a
/// copy of 256 MiB from pinned memory. Takes a fraction of a second and 2 GiB of device memory.
Result<Ceilings> measure_ceilings(const runtime::cuda::DeviceInfo& device);

}  // namespace sptile::tools::cuda
