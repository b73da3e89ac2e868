// bittcf with the load balancing and the cache policy of Acc-SpMM (PPoPP 2025, sections 3.4 and 3.5), for
// comparison: run only by name.
#pragma once

#include <span>
#include <string_view>

#include "runtime/core/kernel.hpp"
#include "runtime/cuda/device_kernel.hpp"

namespace sptile::runtime::cuda {

inline constexpr std::string_view kBitTcfAcc = "cuda.bittcf.acc",
                                  kBitTcfAccBalanced = "cuda.bittcf.acc_balanced",
                                  kBitTcfAccWindows = "cuda.bittcf.acc_windows",
                                  kBitTcfAccWriteThrough = "cuda.bittcf.acc_write_through";

std::span<const Kernel> acc_rows();

std::span<const DeviceKernel> acc_kernels();

// Built with -Dablations=enabled:
std::span<const DeviceKernel> acc_balanced_kernels();
std::span<const DeviceKernel> acc_windows_kernels();
std::span<const DeviceKernel> acc_write_through_kernels();

}  // namespace sptile::runtime::cuda
