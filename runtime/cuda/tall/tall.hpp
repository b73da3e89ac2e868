// tall on tensor cores: a block owns a window, stages the rows of B that its columns name once, and its warps
// own sub-windows of 8 rows.
#pragma once

#include <span>
#include <string_view>

#include "runtime/cuda/device_kernel.hpp"
#include "runtime/kernel.hpp"

namespace sptile::runtime::cuda {

inline constexpr std::string_view kTallStaged = "cuda.tall.staged";

std::span<const Kernel> tall_rows();

std::span<const DeviceKernel> tall_kernels();

}  // namespace sptile::runtime::cuda
