// Kernel launches, independent of the types of arguments.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runtime/cuda/device_kernel.hpp"

namespace sptile::runtime::cuda {

struct LaunchShape {
  dim3 blocks;
  unsigned threads;
  std::size_t shared_bytes = 0;  ///< dynamic shared memory per block
  int resident = 0;  ///< blocks per multiprocessor with shared memory; 0: as many as threads allow
};
/// LaunchShape::resident of kernels that do not need L1.
inline constexpr int kAllShared = 1 << 16;

/// What has been set for a kernel with dynamic shared memory.
struct KernelSettings {
  std::atomic<std::uint64_t> granted{0};  ///< bit of each device: the maximum bytes per block
  std::atomic<int> carveout{-1};          ///< percentage of shared memory in that of a multiprocessor
};

/// Returns the percentage of a multiprocessor's memory that resident blocks need as shared memory. L1 keeps
/// the rest.
int carveout_of(const LaunchShape& shape, const DeviceInfo& device);

/// Enqueues a kernel and returns the cudaError_t of the launch.
int enqueue_kernel(const void* kernel, KernelSettings& settings, const LaunchShape& shape,
                   const DeviceInfo& device, cudaStream_t stream, void** arguments);

}  // namespace sptile::runtime::cuda
