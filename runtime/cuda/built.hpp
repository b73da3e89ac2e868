// Kernel instances for table rows. Libraries without CUDA kernels have the same rows without instances.
#pragma once

#include <span>

#include "runtime/cuda/device_kernel.hpp"

namespace sptile::runtime::cuda {
using Instances = std::span<const DeviceKernel> (*)();
}

#ifdef SPTILE_CUDA
#define SPTILE_BUILT(instances) instances
#else
#define SPTILE_BUILT(instances) nullptr
#endif
