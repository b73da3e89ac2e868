// Names instances of kernels in rows that are there in every library: where they are not linked in, there are
// none.
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
