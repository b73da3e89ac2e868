// SpMM on tensor cores for layouts with 8x8 tiles: bittcf, and rs_tile and libra_spmm with
// their residual rows.
#pragma once

#include <span>

#include "runtime/cuda/device_kernel.hpp"

namespace sptile::runtime::cuda {

std::span<const DeviceKernel> bittcf_kernels();
std::span<const DeviceKernel> bittcf_staged_kernels();
std::span<const DeviceKernel> rs_tile_kernels();

/// Tiles, then the residual rows by the csr kernel.
std::span<const DeviceKernel> libra_kernels();

}  // namespace sptile::runtime::cuda
