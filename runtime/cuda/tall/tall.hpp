// tall on tensor cores: a block owns a window, stages the rows of B that its columns name once, and its warps
// own sub-windows of 8 rows.
#pragma once

#include <span>

#include "runtime/cuda/device_kernel.hpp"

namespace sptile::runtime::cuda {

/// Rows of the kernel "cuda.tall.staged".
std::span<const DeviceKernel> tall_kernels();

}  // namespace sptile::runtime::cuda
