// Maxima and minima over the rows of csr, and their gradients, on CUDA cores. Teams of lanes hold 16 bytes of
// each row of B, with the division of rows of cuda.csr.direct.
#pragma once

#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>

#include "runtime/core/kernel.hpp"
#include "runtime/cuda/collective/direct_schedule.hpp"

namespace sptile::runtime::cuda {

inline constexpr std::string_view kCsrMax = "cuda.csr.max", kCsrMin = "cuda.csr.min",
                                  kCsrMaxGradient = "cuda.csr.max_gradient",
                                  kCsrMaxGradientT = "cuda.csr.max_gradient_t";

std::span<const Kernel> reduce_kernel_rows();

std::span<const DeviceKernel> max_kernels();
std::span<const DeviceKernel> min_kernels();
std::span<const DeviceKernel> max_gradient_kernels();
std::span<const DeviceKernel> max_gradient_t_kernels();

/// Lanes of teams. Teams of one lane, and rows that are not aligned, share an instance for any number of
/// lanes.
inline constexpr int kReduceLanes[] = {1, 4, 8, 16, 32};
/// Lanes that share a dot product of spmm_max_gradient.
inline constexpr int kReduceDotLanes = 8;

/// Returns the shape for n columns, of which a lane holds `vector`.
constexpr DirectShape reduce_shape(std::int64_t n, int vector) {
  const std::int64_t vectors = (n + vector - 1) / vector;
  for (const int lanes : kReduceLanes)
    if (vectors <= lanes) return {lanes, vector, 1};
  return {kReduceLanes[std::size(kReduceLanes) - 1], vector, 1};
}

}  // namespace sptile::runtime::cuda
