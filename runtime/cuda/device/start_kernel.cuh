// Starting a kernel. Other compilers than nvcc see declarations: a test runs kernels in its own way.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "runtime/cuda/device/launch_shape.hpp"

namespace sptile::runtime::cuda {

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

/// Enqueues a kernel with arguments of exactly the types that it takes; gives the cudaError_t of the launch.
template <auto kKernel, class... Args>
int start_kernel(const LaunchShape& shape, const DeviceInfo& device, cudaStream_t stream,
                 const Args&... args) {
  static_assert(std::is_same_v<std::remove_const_t<decltype(kKernel)>, void (*)(Args...)>);
  static std::atomic<std::uint64_t> allowed{0};
  void* arguments[] = {const_cast<Args*>(&args)...};
  return enqueue_kernel(reinterpret_cast<const void*>(kKernel), allowed, shape, device, stream, arguments);
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
