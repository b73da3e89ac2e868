// How often a program asks CUDA for memory or waits. It is linked so that its calls come through here: see
// cuda_calls in meson.build.
#pragma once

namespace sptile::tools {

/// Calls since the program began; cudaMalloc and cudaFree wait for the device, too.
struct CudaCalls {
  int plain_allocations = 0;  ///< cudaMalloc, cudaHostAlloc
  int pool_allocations = 0;   ///< cudaMallocAsync, cudaMallocFromPoolAsync
  int waits = 0;              ///< cuda...Synchronize, cudaMemcpy, cudaFree
  int streams = 0;            ///< that are made
};

const CudaCalls& cuda_calls();

}  // namespace sptile::tools
