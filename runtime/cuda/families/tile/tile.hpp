// SpMM on tensor cores for formats with tiles in windows of 8 or 16 rows.
#pragma once

#include <span>
#include <string_view>

#include "runtime/core/kernel.hpp"
#include "runtime/cuda/device_kernel.hpp"

namespace sptile::runtime::cuda {

inline constexpr std::string_view kBitTcfMma = "cuda.bittcf.mma", kBitTcfStaged = "cuda.bittcf.staged",
                                  kRsTileMma = "cuda.rs_tile.mma", kMeTcfMma = "cuda.me_tcf.mma",
                                  kBmatMma = "cuda.bmat.mma", kBmatStaged = "cuda.bmat.staged",
                                  kLibraSpmmMma = "cuda.libra_spmm.mma",
                                  kLibraSddmmMma = "cuda.libra_sddmm.mma",
                                  kHcWindowHybrid = "cuda.hc_window.hybrid",
                                  kHcWindowApart = "cuda.hc_window.apart";

std::span<const Kernel> tile_rows();

std::span<const DeviceKernel> bittcf_kernels();
std::span<const DeviceKernel> bittcf_staged_kernels();
std::span<const DeviceKernel> rs_tile_kernels();
std::span<const DeviceKernel> me_tcf_kernels();
std::span<const DeviceKernel> bmat_kernels();
std::span<const DeviceKernel> bmat_staged_kernels();

/// Tiles, then the residual rows by the csr kernel; SpMM of either format.
std::span<const DeviceKernel> libra_spmm_kernels();
std::span<const DeviceKernel> libra_sddmm_kernels();

/// Windows of tiles and windows of rows, in one launch.
std::span<const DeviceKernel> hc_window_kernels();
/// Windows of tiles and windows of rows in two launches that overlap, each with its own number of registers.
std::span<const DeviceKernel> hc_window_apart_kernels();

}  // namespace sptile::runtime::cuda
