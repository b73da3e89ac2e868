// Counts of a program's CUDA allocations and synchronizations. Calls are intercepted by the linker: see
// cuda_calls in meson.build.
#pragma once

namespace sptile::tools {

/// Calls since the start of the program; cudaMalloc and cudaFree synchronize, too.
struct CudaCalls {
  int plain_allocations = 0;  ///< cudaMalloc, cudaHostAlloc
  int pool_allocations = 0;   ///< cudaMallocAsync, cudaMallocFromPoolAsync
  int waits = 0;              ///< cuda...Synchronize, cudaMemcpy, cudaFree
  int streams = 0;            ///< created streams
};

const CudaCalls& cuda_calls();

}  // namespace sptile::tools
