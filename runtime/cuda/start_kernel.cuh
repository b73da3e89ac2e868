// Starting a kernel. Other compilers than nvcc see a declaration: a test runs kernels in its own way.
#pragma once

#include <cuda_runtime_api.h>

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

}  // namespace sptile::runtime::cuda
