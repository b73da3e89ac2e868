// csr on CUDA cores: 8, 16 or 32 lanes share a row, with 16 bytes of every row of B each; 32 lanes with twice
// 16 bytes if rows of B are multiples of 1,024 bytes.
#pragma once

#include <span>
#include <string_view>

#include "runtime/core/kernel.hpp"
#include "runtime/cuda/device_kernel.hpp"

namespace sptile::runtime::cuda {

inline constexpr std::string_view kCsrDirect = "cuda.csr.direct";

std::span<const Kernel> csr_rows();

std::span<const DeviceKernel> csr_kernels();
/// For small and narrow products. More lanes process the nonzeros of longer rows in turns, so that short
/// chains of loads keep all multiprocessors busy; narrow rows of B use few lanes, down to one.
std::span<const DeviceKernel> direct_kernels();

}  // namespace sptile::runtime::cuda
