// Asynchronous copies of one warp into its own part of shared memory (PTX ISA: cp.async). As in ptx.cuh,
// other compilers than nvcc see declarations.
#pragma once

#include <cstdint>

#include "runtime/cuda/device/pipe.cuh"

namespace sptile::runtime::cuda {

#ifdef __CUDACC__

/// Starts to copy 4, 8 or 16 bytes through the first cache, if wanted. No branch: lanes that do not want to
/// copy go along.
template <int kBytes>
__device__ __forceinline__ void copy_if(bool wanted, std::uint32_t to, const void* from) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.u32 p, %3, 0;\n@p cp.async.ca.shared.global [%0], [%1], %2;\n}" ::"r"(to),
      "l"(from), "n"(kBytes), "r"(static_cast<std::uint32_t>(wanted))
      : "memory");
}

/// Ends a group of copies: those that the lane has started since the last one.
__device__ __forceinline__ void copy_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

/// Waits until all but the last kPending groups of the lane are there.
template <int kPending>
__device__ __forceinline__ void copy_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

/// Lets every lane of the warp see what the others have copied, and waits until all have read what is next
/// overwritten.
__device__ __forceinline__ void warp_sync() { __syncwarp(); }

#else

template <int kBytes>
void copy_if(bool wanted, std::uint32_t to, const void* from);
void copy_commit();
template <int kPending>
void copy_wait();
void warp_sync();

#endif

}  // namespace sptile::runtime::cuda
