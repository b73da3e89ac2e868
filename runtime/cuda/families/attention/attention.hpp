// Softmax of rows, attention and its gradients, all heads in one launch: over the rows of csr on CUDA cores,
// and attention also over tiles of bmat on tensor cores.
#pragma once

#include <span>
#include <string_view>

#include "runtime/core/kernel.hpp"
#include "runtime/cuda/device_kernel.hpp"
#include "runtime/cuda/families/attention/schedule.hpp"

namespace sptile::runtime::cuda {

inline constexpr std::string_view kCsrSoftmax = "cuda.csr.softmax_rows";
inline constexpr std::string_view kCsrSoftmaxGradient = "cuda.csr.softmax_rows_gradient";
inline constexpr std::string_view kCsrAttention = "cuda.csr.attention";
inline constexpr std::string_view kCsrAttentionGradient = "cuda.csr.attention_gradient";
inline constexpr std::string_view kCsrAttentionGradientT = "cuda.csr.attention_gradient_t";
inline constexpr std::string_view kCsrGatv2 = "cuda.csr.gatv2";
inline constexpr std::string_view kCsrGatv2Gradient = "cuda.csr.gatv2_gradient";
inline constexpr std::string_view kCsrGatv2GradientT = "cuda.csr.gatv2_gradient_t";
inline constexpr std::string_view kCsrEdgeAttention = "cuda.csr.edge_attention";
inline constexpr std::string_view kCsrEdgeAttentionGradient = "cuda.csr.edge_attention_gradient";
inline constexpr std::string_view kCsrGatv2Features = "cuda.csr.gatv2_edges";
inline constexpr std::string_view kCsrGatv2FeaturesGradient = "cuda.csr.gatv2_edges_gradient";
inline constexpr std::string_view kCsrGatv2FeaturesGradientT = "cuda.csr.gatv2_edges_gradient_t";
inline constexpr std::string_view kCsrGatv2FeaturesWeights = "cuda.csr.gatv2_edges_weights";
inline constexpr std::string_view kBmatAttention = "cuda.bmat.attention";

std::span<const Kernel> attention_kernel_rows();

std::span<const DeviceKernel> softmax_kernels();
std::span<const DeviceKernel> softmax_gradient_kernels();
std::span<const DeviceKernel> attention_kernels();
std::span<const DeviceKernel> attention_gradient_kernels();
std::span<const DeviceKernel> attention_gradient_t_kernels();
std::span<const DeviceKernel> gatv2_kernels();
std::span<const DeviceKernel> gatv2_gradient_kernels();
std::span<const DeviceKernel> gatv2_gradient_t_kernels();
std::span<const DeviceKernel> edge_attention_kernels();
std::span<const DeviceKernel> edge_attention_gradient_kernels();
std::span<const DeviceKernel> gatv2_features_kernels();
std::span<const DeviceKernel> gatv2_features_gradient_kernels();
std::span<const DeviceKernel> gatv2_features_gradient_t_kernels();
std::span<const DeviceKernel> gatv2_features_weights_kernels();
std::span<const DeviceKernel> bmat_attention_kernels();

}  // namespace sptile::runtime::cuda
