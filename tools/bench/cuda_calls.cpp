#include "tools/bench/cuda_calls.hpp"

#include <cuda_runtime_api.h>

namespace sptile::tools {
namespace {
CudaCalls calls;
}
const CudaCalls& cuda_calls() { return calls; }
}  // namespace sptile::tools

// The linker redirects calls of f to __wrap_f and provides the original as __real_f.
#define SPTILE_COUNTED(counter, function, parameters, arguments) \
  extern "C" cudaError_t __real_##function parameters;           \
  extern "C" cudaError_t __wrap_##function parameters;           \
  extern "C" cudaError_t __wrap_##function parameters {          \
    ++sptile::tools::calls.counter;                              \
    return __real_##function arguments;                          \
  }

SPTILE_COUNTED(plain_allocations, cudaMalloc, (void** data, size_t bytes), (data, bytes))
SPTILE_COUNTED(plain_allocations, cudaHostAlloc, (void** data, size_t bytes, unsigned flags),
               (data, bytes, flags))
SPTILE_COUNTED(pool_allocations, cudaMallocAsync, (void** data, size_t bytes, cudaStream_t stream),
               (data, bytes, stream))
SPTILE_COUNTED(pool_allocations, cudaMallocFromPoolAsync,
               (void** data, size_t bytes, cudaMemPool_t pool, cudaStream_t stream),
               (data, bytes, pool, stream))
SPTILE_COUNTED(waits, cudaFree, (void* data), (data))
SPTILE_COUNTED(waits, cudaDeviceSynchronize, (), ())
SPTILE_COUNTED(waits, cudaStreamSynchronize, (cudaStream_t stream), (stream))
SPTILE_COUNTED(waits, cudaEventSynchronize, (cudaEvent_t event), (event))
SPTILE_COUNTED(waits, cudaMemcpy, (void* to, const void* from, size_t bytes, cudaMemcpyKind kind),
               (to, from, bytes, kind))
SPTILE_COUNTED(streams, cudaStreamCreateWithFlags, (cudaStream_t * stream, unsigned flags), (stream, flags))
