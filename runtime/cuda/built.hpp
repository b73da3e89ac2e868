// Names instances of kernels in rows that are there in every build: without nvcc they have none.
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
