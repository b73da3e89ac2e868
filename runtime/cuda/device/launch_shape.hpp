// Kernel launches, independent of the types of arguments.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runtime/cuda/device_kernel.hpp"

namespace sptile::runtime::cuda {

struct LaunchShape {
  dim3 blocks;
  unsigned threads;
  std::size_t shared_bytes = 0;  ///< dynamic shared memory per block
  int resident = 0;              ///< blocks per multiprocessor with shared memory; 0: limited by threads
};
/// LaunchShape::resident of kernels that do not need L1.
inline constexpr int kAllShared = 1 << 16;

/// Settings of a kernel with dynamic shared memory.
struct KernelSettings {
  std::atomic<std::uint64_t> granted{0};  ///< bit of each device: the maximum bytes per block
  std::atomic<int> carveout{-1};          ///< percentage of shared memory in that of a multiprocessor
};

/// Returns the percentage of a multiprocessor's memory that resident blocks need as shared memory. L1 keeps
/// the rest.
inline int carveout_of(const LaunchShape& shape, const DeviceInfo& device) {
  constexpr std::int64_t kReserved = 1024;  // per block, by the system
  constexpr std::int64_t kThreads = 2048;   // per multiprocessor
  const std::int64_t blocks = shape.resident > 0 ? shape.resident : kThreads / shape.threads;
  const std::int64_t bytes = blocks * (static_cast<std::int64_t>(shape.shared_bytes) + kReserved);
  const auto all = static_cast<std::int64_t>(device.shared_per_block) + kReserved;
  return static_cast<int>(std::min<std::int64_t>((100 * bytes + all - 1) / all, 100));
}

/// Enqueues a kernel and returns the cudaError_t of the launch.
int enqueue_kernel(const void* kernel, KernelSettings& settings, const LaunchShape& shape,
                   const DeviceInfo& device, cudaStream_t stream, void** arguments);

}  // namespace sptile::runtime::cuda
