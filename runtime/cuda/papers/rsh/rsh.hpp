// rs_tile in its stored windows and pieces, as in RSH-SpMM (Algorithm 2), for comparison: run only by name.
#pragma once

#include <span>
#include <string_view>

#include "runtime/core/kernel.hpp"
#include "runtime/cuda/device_kernel.hpp"

namespace sptile::runtime::cuda {

inline constexpr std::string_view kRsTileRsh = "cuda.rs_tile.rsh", kRsTileRshRuns = "cuda.rs_tile.rsh_runs";

std::span<const Kernel> rsh_rows();

std::span<const DeviceKernel> rsh_kernels();
/// Built with -Dablations=enabled.
std::span<const DeviceKernel> rsh_runs_kernels();

}  // namespace sptile::runtime::cuda
