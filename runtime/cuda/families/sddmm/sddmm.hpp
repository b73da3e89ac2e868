// SDDMM: rows of csr on CUDA cores; tiles on tensor cores, with entries in rows on CUDA cores.
#pragma once

#include <span>
#include <string_view>

#include "runtime/core/kernel.hpp"
#include "runtime/cuda/device_kernel.hpp"

namespace sptile::runtime::cuda {

inline constexpr std::string_view kCsrSddmm = "cuda.csr.sddmm", kBitTcfSddmm = "cuda.bittcf.sddmm",
                                  kRsTileSddmm = "cuda.rs_tile.sddmm",
                                  kLibraSpmmSddmm = "cuda.libra_spmm.sddmm",
                                  kLibraSddmmSddmm = "cuda.libra_sddmm.sddmm",
                                  kMeTcfSddmm = "cuda.me_tcf.sddmm", kHcWindowSddmm = "cuda.hc_window.sddmm",
                                  kBmatSddmm = "cuda.bmat.sddmm";

std::span<const Kernel> sddmm_kernel_rows();

inline constexpr std::string_view kCsrSddmmDirect = "cuda.csr.sddmm_direct";

std::span<const DeviceKernel> csr_sddmm_kernels();
std::span<const DeviceKernel> csr_sddmm_direct_kernels();
std::span<const DeviceKernel> bittcf_sddmm_kernels();
std::span<const DeviceKernel> rs_tile_sddmm_kernels();
std::span<const DeviceKernel> libra_spmm_sddmm_kernels();
std::span<const DeviceKernel> libra_sddmm_sddmm_kernels();
std::span<const DeviceKernel> me_tcf_sddmm_kernels();
std::span<const DeviceKernel> hc_window_sddmm_kernels();
std::span<const DeviceKernel> bmat_sddmm_kernels();

/// Enqueues the entries in rows of any format.
using SddmmLaunch = int (*)(const Launch&, void* stream) noexcept;
SddmmLaunch sddmm_rows_launch(const DenseTypes& types);

}  // namespace sptile::runtime::cuda
