// SpMM of csr as one would write it first, a toy: a warp for each row. For those who name it.
#pragma once

#include <span>
#include <string_view>

#include "runtime/core/kernel.hpp"
#include "runtime/cuda/device_kernel.hpp"

namespace sptile::runtime::cuda {

inline constexpr std::string_view kCsrPlain = "cuda.csr.plain";

std::span<const Kernel> plain_rows();

std::span<const DeviceKernel> plain_kernels();

}  // namespace sptile::runtime::cuda
