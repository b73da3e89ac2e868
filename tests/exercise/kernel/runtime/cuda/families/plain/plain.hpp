// A toy kernel: simple SpMM of csr with one warp per row, run only by name.
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
