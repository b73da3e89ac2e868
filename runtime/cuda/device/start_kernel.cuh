// Kernel launches. Compilers other than nvcc see only declarations; tests run kernels in their own way.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "runtime/cuda/device/launch_shape.hpp"

namespace sptile::runtime::cuda {

#ifdef __CUDACC__

/// Allows the next kernel of the stream to start once all blocks of this one have started.
__device__ __forceinline__ void admit_next_kernel() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

/// Waits until the previous kernel has ended and its results are visible.
__device__ __forceinline__ void await_previous_kernel() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// Allows the next kernel to start and waits for the previous one. Every kernel launched by start_kernel must
/// call it, or the two functions above, before it reads data that another kernel may write.
__device__ __forceinline__ void follow_previous_kernel() {
  admit_next_kernel();
  await_previous_kernel();
}

/// Enqueues a kernel with arguments of exactly its parameter types; returns the cudaError_t of the launch.
template <auto kKernel, class... Args>
int start_kernel(const LaunchShape& shape, const DeviceInfo& device, cudaStream_t stream,
                 const Args&... args) {
  static_assert(std::is_same_v<std::remove_const_t<decltype(kKernel)>, void (*)(Args...)>);
  static KernelSettings settings;
  void* arguments[] = {const_cast<Args*>(&args)...};
  return enqueue_kernel(reinterpret_cast<const void*>(kKernel), settings, shape, device, stream, arguments);
}

/// Returns the number of resident blocks per multiprocessor of the current device; 1 if unknown.
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
