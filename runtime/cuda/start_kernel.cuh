// Starting a kernel. Other compilers than nvcc see a declaration: a test runs kernels in its own way.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>

#include "runtime/cuda/spmm_kernel.hpp"

namespace sptile::runtime::cuda {

/// Enqueues a kernel of one-dimensional blocks; gives the cudaError_t of the launch.
#ifdef __CUDACC__
template <class... Args>
int start_kernel(void (*kernel)(Args...), unsigned blocks, unsigned threads, cudaStream_t stream,
                 const Args&... args) {
  kernel<<<blocks, threads, 0, stream>>>(args...);
  return static_cast<int>(cudaGetLastError());
}
#else
template <class... Args>
int start_kernel(void (*kernel)(Args...), unsigned blocks, unsigned threads, cudaStream_t stream,
                 const Args&... args);
#endif

/// The same for a kernel that wants `shared_bytes` of dynamic shared memory, up to what a block can have at
/// most; asks for that once per kernel and device.
#ifdef __CUDACC__
template <auto kKernel, class... Args>
int start_kernel_sharing(unsigned blocks, unsigned threads, std::size_t shared_bytes,
                         const DeviceInfo& device, cudaStream_t stream, const Args&... args) {
  static std::atomic<std::uint64_t> allowed{0};
  const std::uint64_t bit = std::uint64_t{1} << (device.ordinal % 64);
  if ((allowed.load(std::memory_order_relaxed) & bit) == 0) {
    cudaError_t code = cudaFuncSetAttribute(kKernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            static_cast<int>(device.shared_per_block));
    if (code == cudaSuccess)
      code = cudaFuncSetAttribute(kKernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                  cudaSharedmemCarveoutMaxShared);
    if (code != cudaSuccess) return static_cast<int>(code);
    allowed.fetch_or(bit, std::memory_order_relaxed);
  }
  kKernel<<<blocks, threads, shared_bytes, stream>>>(args...);
  return static_cast<int>(cudaGetLastError());
}
#else
template <auto kKernel, class... Args>
int start_kernel_sharing(unsigned blocks, unsigned threads, std::size_t shared_bytes,
                         const DeviceInfo& device, cudaStream_t stream, const Args&... args);
#endif

}  // namespace sptile::runtime::cuda
