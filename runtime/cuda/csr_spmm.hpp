// csr on CUDA cores: 8, 16 or 32 lanes share a row, each with 16 bytes of every row of B.
#pragma once

#include <span>

#include "runtime/cuda/device_kernel.hpp"

namespace sptile::runtime::cuda {

/// Rows of the kernel "cuda.csr.rows".
std::span<const DeviceKernel> csr_kernels();

}  // namespace sptile::runtime::cuda
