// Launching a kernel, whatever its arguments are.
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
  std::size_t shared_bytes = 0;  ///< dynamic, of a block
  int carveout = 0;  ///< percent of the memory of a multiprocessor that its blocks have, not its first cache
};

/// Enqueues a kernel; gives the cudaError_t of the launch. `allowed` has a bit for each device on which the
/// kernel may have as much dynamic shared memory as a block can.
int enqueue_kernel(const void* kernel, std::atomic<std::uint64_t>& allowed, const LaunchShape& shape,
                   const DeviceInfo& device, cudaStream_t stream, void** arguments);

}  // namespace sptile::runtime::cuda
