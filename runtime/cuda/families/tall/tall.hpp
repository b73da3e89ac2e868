// tall on tensor cores: a block owns a window and stages the rows of B of its columns once. Its warps own
// sub-windows of 8 rows (staged), or all rows and a part of the columns of B (wgmma).
#pragma once

#include <span>
#include <string_view>

#include "runtime/core/kernel.hpp"
#include "runtime/cuda/device_kernel.hpp"

namespace sptile::runtime::cuda {

inline constexpr std::string_view kTallStaged = "cuda.tall.staged";
inline constexpr std::string_view kTallWgmma = "cuda.tall.wgmma";

std::span<const Kernel> tall_rows();

std::span<const DeviceKernel> tall_wgmma_kernels();

}  // namespace sptile::runtime::cuda
