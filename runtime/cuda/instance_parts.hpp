// Instances of kernels that are compiled in several objects, each with some of the precisions.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "runtime/cuda/device_kernel.hpp"

namespace sptile::runtime::cuda {

/// Returns the instances of a kernel of one part. Part 0 has tf32 and fp32, part 1 the other precisions.
template <const std::string_view& kKernel, int kPart>
std::span<const DeviceKernel> instances_of_part();

/// Returns all instances of a kernel, by precision.
template <const std::string_view& kKernel>
std::span<const DeviceKernel> instances() {
  static const std::vector<DeviceKernel> all = [] {
    std::vector<DeviceKernel> rows;
    for (const auto part : {instances_of_part<kKernel, 0>(), instances_of_part<kKernel, 1>()})
      rows.insert(rows.end(), part.begin(), part.end());
    return rows;
  }();
  return all;
}

}  // namespace sptile::runtime::cuda
