// hc_window with HyGNN's kernels, for comparison: run only by name.
#pragma once

#include <span>
#include <string_view>

#include "runtime/core/kernel.hpp"
#include "runtime/cuda/device_kernel.hpp"

namespace sptile::runtime::cuda {

inline constexpr std::string_view kHygnnPaper = "cuda.hc_window.paper",
                                  kHygnnUpdate = "cuda.hc_window.paper_update",
                                  kHygnnLayerGradient = "cuda.hc_window.paper_layer_gradient",
                                  kHygnnPlainLoad = "cuda.hc_window.paper_plain_load",
                                  kHygnnGlobalEdges = "cuda.hc_window.paper_global_edges",
                                  kHygnnFixed32 = "cuda.hc_window.paper_fixed_32";

std::span<const Kernel> hygnn_rows();

std::span<const DeviceKernel> hygnn_kernels();
std::span<const DeviceKernel> hygnn_update_kernels();
std::span<const DeviceKernel> hygnn_layer_gradient_kernels();

// Built with -Dablations=enabled:
std::span<const DeviceKernel> hygnn_plain_load_kernels();
std::span<const DeviceKernel> hygnn_global_edges_kernels();
std::span<const DeviceKernel> hygnn_fixed_32_kernels();

}  // namespace sptile::runtime::cuda
