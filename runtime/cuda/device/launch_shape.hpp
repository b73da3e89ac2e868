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
  int carveout = 0;  ///< percentage of a multiprocessor's memory used as shared memory instead of L1
};

/// Enqueues a kernel and returns the cudaError_t of the launch. `allowed` has a bit for each device on which
/// the kernel was granted the maximum dynamic shared memory per block.
int enqueue_kernel(const void* kernel, std::atomic<std::uint64_t>& allowed, const LaunchShape& shape,
                   const DeviceInfo& device, cudaStream_t stream, void** arguments);

}  // namespace sptile::runtime::cuda
