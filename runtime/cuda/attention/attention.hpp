#pragma once
#include <span>
#include <string_view>
#include "runtime/cuda/device_kernel.hpp"
#include "runtime/kernel.hpp"
namespace sptile::runtime::cuda {
inline constexpr std::string_view kBmatAttention = "cuda.bmat.attention";
std::span<const DeviceKernel> bmat_attention_kernels();
}  // namespace sptile::runtime::cuda
