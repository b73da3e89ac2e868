#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>

#include "runtime/cuda/device/launch_shape.hpp"

namespace sptile::runtime::cuda {

/// From compute capability 9.0 on, blocks of a kernel start while the last blocks of the previous kernel run
/// (programmatic dependent launch), which hides most of the launch latency. A kernel with dynamic shared
/// memory is granted the maximum per block, once per device.
int enqueue_kernel(const void* kernel, std::atomic<std::uint64_t>& allowed, const LaunchShape& shape,
                   const DeviceInfo& device, cudaStream_t stream, void** arguments) {
  if (shape.shared_bytes > 0) {
    const std::uint64_t bit = std::uint64_t{1} << (device.ordinal % 64);
    if ((allowed.load(std::memory_order_relaxed) & bit) == 0) {
      cudaError_t code = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                              static_cast<int>(device.shared_per_block));
      if (code == cudaSuccess)
        code = cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, shape.carveout);
      if (code != cudaSuccess) return static_cast<int>(code);
      allowed.fetch_or(bit, std::memory_order_relaxed);
    }
  }
  cudaLaunchAttribute overlap{};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = shape.blocks;
  config.blockDim = dim3(shape.threads);
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = stream;
  config.attrs = &overlap;
  config.numAttrs = device.capability >= 90 ? 1 : 0;
  return static_cast<int>(cudaLaunchKernelExC(&config, kernel, arguments));
}

}  // namespace sptile::runtime::cuda
