// SpMM on tensor cores for layouts with 8x8 tiles: bittcf, and rs_tile and libra_spmm with
// their residual rows.
#pragma once

#include <span>

#include "runtime/cuda/device_kernel.hpp"

namespace sptile::runtime::cuda {

std::span<const DeviceKernel> bittcf_kernels();
std::span<const DeviceKernel> bittcf_staged_kernels();
std::span<const DeviceKernel> rs_tile_kernels();

/// Tiles, then the residual rows by the csr kernel; SpMM of either format.
std::span<const DeviceKernel> libra_spmm_kernels();
std::span<const DeviceKernel> libra_sddmm_kernels();

/// libra_spmm with Libra's own balance and scheduling.
std::span<const DeviceKernel> libra_streams_kernels();

struct Sizes8 {
  static constexpr int kSingle = 96, kF32x1 = 80, kF32x2 = 96, kF16x1 = 80, kF16x2 = 120, kF64x1 = 96,
                       kF64x2 = 128;
  static constexpr int kStagedWarps = 16, kWidestF32 = 2, kWidestWarps = 16;
};

}  // namespace sptile::runtime::cuda
