// Bulk copies of a staged pipeline (PTX ISA: cp.async.bulk, mbarrier transactions; compute capability 9.0 and
// up). As in ptx.cuh, other compilers than nvcc see declarations.
#pragma once

#include "runtime/cuda/device/pipe.cuh"

namespace sptile::runtime::cuda {

#ifdef __CUDACC__

/// Arrives, and has the phase wait for that many more bytes of bulk copies.
__device__ __forceinline__ void barrier_arrive_expect(std::uint32_t barrier, unsigned bytes) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  asm volatile("{\n.reg .b64 state;\nmbarrier.arrive.expect_tx.shared.b64 state, [%0], %1;\n}" ::"r"(barrier),
               "r"(bytes)
               : "memory");
#endif
}

/// Copies `bytes` (a multiple of 16, as both addresses are) and counts them at the barrier when they are
/// there.
__device__ __forceinline__ void copy_bulk(std::uint32_t to, const void* from, unsigned bytes,
                                          std::uint32_t barrier) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
      "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(barrier)
      : "memory");
#endif
}

/// Orders what this thread did to shared memory before what bulk copies and products of warpgroups do there
/// later.
__device__ __forceinline__ void fence_async() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

#else

void barrier_arrive_expect(std::uint32_t barrier, unsigned bytes);
void copy_bulk(std::uint32_t to, const void* from, unsigned bytes, std::uint32_t barrier);
void fence_async();

#endif

}  // namespace sptile::runtime::cuda
