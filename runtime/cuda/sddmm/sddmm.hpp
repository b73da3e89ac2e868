// SDDMM: rows of csr on CUDA cores; tiles on tensor cores, with what stands in rows beside them.
#pragma once

#include <span>

#include "runtime/cuda/device_kernel.hpp"

namespace sptile::runtime::cuda {

std::span<const DeviceKernel> csr_sddmm_kernels();
std::span<const DeviceKernel> bittcf_sddmm_kernels();
std::span<const DeviceKernel> rs_tile_sddmm_kernels();
std::span<const DeviceKernel> libra_spmm_sddmm_kernels();
std::span<const DeviceKernel> libra_sddmm_sddmm_kernels();
std::span<const DeviceKernel> me_tcf_sddmm_kernels();
std::span<const DeviceKernel> bmat_sddmm_kernels();

}  // namespace sptile::runtime::cuda
