#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>

#include "runtime/cuda/device/launch_shape.hpp"

namespace sptile::runtime::cuda {

namespace {

/// Grants a kernel the maximum shared memory per block, once per device, and divides the memory of
/// multiprocessors. Without the division, the driver may reserve the shared memory of a single block.
cudaError_t set_shared_memory(const void* kernel, KernelSettings& settings, const LaunchShape& shape,
                              const DeviceInfo& device) {
  const std::uint64_t bit = std::uint64_t{1} << (device.ordinal % 64);
  const int carveout = carveout_of(shape, device);
  const bool granted = (settings.granted.load(std::memory_order_relaxed) & bit) != 0;
  if (granted && settings.carveout.load(std::memory_order_relaxed) == carveout) return cudaSuccess;
  cudaError_t code = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                          static_cast<int>(device.shared_per_block));
  if (code == cudaSuccess)
    code = cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, carveout);
  if (code != cudaSuccess) return code;
  settings.granted.fetch_or(bit, std::memory_order_relaxed);
  settings.carveout.store(carveout, std::memory_order_relaxed);
  return cudaSuccess;
}

}  // namespace

/// From compute capability 9.0 on, blocks of a kernel start while the last blocks of the previous kernel run
/// (programmatic dependent launch), which hides most of the launch latency.
int enqueue_kernel(const void* kernel, KernelSettings& settings, const LaunchShape& shape,
                   const DeviceInfo& device, cudaStream_t stream, void** arguments) {
  if (shape.shared_bytes > 0) {
    const cudaError_t code = set_shared_memory(kernel, settings, shape, device);
    if (code != cudaSuccess) return static_cast<int>(code);
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
