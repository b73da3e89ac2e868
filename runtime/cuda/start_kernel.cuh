// Starting a kernel. Other compilers than nvcc see declarations: a test runs kernels in its own way.
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

#ifdef __CUDACC__

/// Lets the next kernel of the stream come up, when all blocks of this one have begun.
__device__ __forceinline__ void admit_next_kernel() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

/// Waits until the kernel before has ended and its results are there.
__device__ __forceinline__ void await_previous_kernel() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// To be called first by each kernel that start_kernel starts, or what is above in its place: lets the next
/// kernel come up and waits for the one before. Nothing that another kernel may write is read before.
__device__ __forceinline__ void follow_previous_kernel() {
  admit_next_kernel();
  await_previous_kernel();
}

/// Enqueues a kernel; gives the cudaError_t of the launch. From Hopper on, its blocks come up while the last
/// ones of the kernel before are still at work (programmatic dependent launch), which hides most of the time
/// that a launch takes. A kernel that wants dynamic shared memory is allowed as much as a block can have,
/// once per device.
template <auto kKernel, class... Args>
int start_kernel(const LaunchShape& shape, const DeviceInfo& device, cudaStream_t stream,
                 const Args&... args) {
  if (shape.shared_bytes > 0) {
    static std::atomic<std::uint64_t> allowed{0};
    const std::uint64_t bit = std::uint64_t{1} << (device.ordinal % 64);
    if ((allowed.load(std::memory_order_relaxed) & bit) == 0) {
      cudaError_t code = cudaFuncSetAttribute(kKernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                              static_cast<int>(device.shared_per_block));
      if (code == cudaSuccess)
        code = cudaFuncSetAttribute(kKernel, cudaFuncAttributePreferredSharedMemoryCarveout, shape.carveout);
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
  return static_cast<int>(cudaLaunchKernelEx(&config, kKernel, args...));
}

/// Blocks of a kernel that fit on a multiprocessor of the current device; 1 when it does not tell.
template <auto kKernel>
int blocks_per_sm(int threads) {
  int blocks = 0;
  if (cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kKernel, threads, 0) == cudaSuccess &&
      blocks > 0)
    return blocks;
  cudaGetLastError();
  return 1;
}

#else

template <auto kKernel>
int blocks_per_sm(int threads);
void admit_next_kernel();
void await_previous_kernel();
void follow_previous_kernel();
template <auto kKernel, class... Args>
int start_kernel(const LaunchShape& shape, const DeviceInfo& device, cudaStream_t stream,
                 const Args&... args);

#endif

}  // namespace sptile::runtime::cuda
