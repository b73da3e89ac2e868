// SpMM on tensor cores for layouts with 8x8 tiles: bittcf, and rs_tile with its residual rows.
#pragma once

#include <span>

#include "runtime/cuda/spmm_kernel.hpp"

namespace sptile::runtime::cuda {

std::span<const SpmmKernel> bittcf_kernels();
std::span<const SpmmKernel> bittcf_staged_kernels();
std::span<const SpmmKernel> rs_tile_kernels();

}  // namespace sptile::runtime::cuda
