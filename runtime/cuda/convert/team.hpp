// Threads of a block that run one function together, on a device or, in tests, on the host.
#pragma once

#include <cstdint>

#include "runtime/cuda/device/qualifiers.hpp"

namespace sptile::runtime::cuda {

// run.teams(n, step) calls step(block, team, shared) in Step::kThreads threads per block for n blocks. All
// threads of a block call the functions of `team` in the same order:
//   team.sync() a barrier that orders the memory accesses of the block
//   team.max(x), team.sum(x) of all threads, with a barrier
//   team.before(x, total) sum of the threads before this one, and of all, with a barrier

/// A thread of a block on a device.
struct DeviceTeam {
  static constexpr int kLanes = 32, kMaxWarps = 32;

  std::uint64_t* scratch;  ///< kMaxWarps numbers in shared memory

  SPTILE_HOST_DEVICE int thread() const {
#ifdef __CUDA_ARCH__
    return static_cast<int>(threadIdx.x);
#else
    return 0;
#endif
  }
  SPTILE_HOST_DEVICE int threads() const {
#ifdef __CUDA_ARCH__
    return static_cast<int>(blockDim.x);
#else
    return 1;
#endif
  }
  SPTILE_HOST_DEVICE void sync() const {
#ifdef __CUDA_ARCH__
    __syncthreads();
#endif
  }
  SPTILE_HOST_DEVICE std::uint64_t max(std::uint64_t x) const {
#ifdef __CUDA_ARCH__
    for (int step = kLanes / 2; step > 0; step /= 2) {
      const std::uint64_t other = __shfl_xor_sync(~0u, static_cast<unsigned long long>(x), step);
      x = other > x ? other : x;
    }
    publish(x);
    for (int warp = 0; warp < warps(); ++warp) x = scratch[warp] > x ? scratch[warp] : x;
    __syncthreads();
#endif
    return x;
  }
  SPTILE_HOST_DEVICE std::uint64_t sum(std::uint64_t x) const {
    std::uint64_t total = x;
    before(x, total);
    return total;
  }
  SPTILE_HOST_DEVICE std::uint64_t before(std::uint64_t x, std::uint64_t& total) const {
#ifdef __CUDA_ARCH__
    std::uint64_t up_to = x;
    for (int step = 1; step < kLanes; step *= 2) {
      const std::uint64_t other = __shfl_up_sync(~0u, static_cast<unsigned long long>(up_to), step);
      if (thread() % kLanes >= step) up_to += other;
    }
    if (thread() % kLanes == kLanes - 1) scratch[thread() / kLanes] = up_to;
    __syncthreads();
    total = 0;
    std::uint64_t first = 0;
    for (int warp = 0; warp < warps(); ++warp) {
      if (warp == thread() / kLanes) first = total;
      total += scratch[warp];
    }
    __syncthreads();
    return first + up_to - x;
#else
    total = x;
    return 0;
#endif
  }

 private:
#ifdef __CUDA_ARCH__
  __device__ int warps() const { return threads() / kLanes; }
  __device__ void publish(std::uint64_t x) const {
    if (thread() % kLanes == 0) scratch[thread() / kLanes] = x;
    __syncthreads();
  }
#endif
};

}  // namespace sptile::runtime::cuda
