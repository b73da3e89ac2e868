// Reductions over the threads of a block, and its dynamic shared memory. Compilers other than nvcc see
// declarations, which the host emulation of the tests defines.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/cuda/collective/lanes.hpp"
#include "runtime/cuda/collective/warp.cuh"

namespace sptile::runtime::cuda {

#ifdef __CUDACC__

/// Returns the address of the block's dynamic shared memory in the shared state space; a multiple of 128.
__device__ __forceinline__ std::uint32_t dynamic_shared() {
  extern __shared__ __align__(128) std::byte dynamic_shared_memory[];
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(dynamic_shared_memory));
}

/// Returns the same address as a multiple of kSwizzledBytes. A kernel calls only one of the two.
__device__ __forceinline__ std::uint32_t swizzled_shared() {
  extern __shared__ __align__(kSwizzledBytes) std::byte swizzled_shared_memory[];
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(swizzled_shared_memory));
}

/// Returns a pointer to the block's dynamic shared memory, `offset` bytes from its start.
template <class T>
__device__ __forceinline__ T* dynamic_shared_at(std::uint32_t offset) {
  extern __shared__ __align__(128) std::byte dynamic_shared_memory[];
  return reinterpret_cast<T*>(dynamic_shared_memory + offset);
}

#else

std::uint32_t dynamic_shared();
std::uint32_t swizzled_shared();
template <class T>
T* dynamic_shared_at(std::uint32_t offset);

#endif

/// Reduces x over the threads of the block, within warps and then over warps in ascending order. Returns the
/// result to every thread. `shared` has one element per warp and may be reused by the next call. All threads
/// of the block must call it.
template <int kWarps, Butterfly kOrder = Butterfly::kFarFirst, class T, class Combine = Plus>
__device__ __forceinline__ T reduce_block(T x, T* shared, Combine combine = {}) {
  const int thread = static_cast<int>(threadIdx.x);
  x = reduce_lanes<kWarpSize, kOrder>(x, combine);
  __syncthreads();  // results of the previous call have been read
  if (thread % kWarpSize == 0) shared[thread / kWarpSize] = x;
  __syncthreads();
  x = shared[0];
#pragma unroll
  for (int w = 1; w < kWarps; ++w) x = combine(x, shared[w]);
  return x;
}

}  // namespace sptile::runtime::cuda
