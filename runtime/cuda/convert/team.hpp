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
    x = max_of_warp(x);
    if (lane() == 0) scratch[warp()] = x;
    __syncthreads();
    x = max_of_warp(lane() < warps() ? scratch[lane()] : 0);
    __syncthreads();
#endif
    return x;
  }
  SPTILE_HOST_DEVICE std::uint64_t sum(std::uint64_t x) const {
    std::uint64_t total = 0;
    before(x, total);
    return total;
  }
  SPTILE_HOST_DEVICE std::uint64_t before(std::uint64_t x, std::uint64_t& total) const {
#ifdef __CUDA_ARCH__
    const std::uint64_t up_to = up_to_lane(x);
    if (lane() == kLanes - 1) scratch[warp()] = up_to;
    __syncthreads();
    const std::uint64_t of_warps = up_to_lane(lane() < warps() ? scratch[lane()] : 0);
    total = of_lane(of_warps, kLanes - 1);
    const std::uint64_t first = warp() == 0 ? 0 : of_lane(of_warps, warp() - 1);
    __syncthreads();
    return first + up_to - x;
#else
    total = x;
    return 0;
#endif
  }

#ifdef __CUDA_ARCH__
 private:
  __device__ int lane() const { return thread() % kLanes; }
  __device__ int warp() const { return thread() / kLanes; }
  __device__ int warps() const { return threads() / kLanes; }
  __device__ static std::uint64_t of_lane(std::uint64_t x, int lane) {
    return __shfl_sync(~0u, static_cast<unsigned long long>(x), lane);
  }
  __device__ static std::uint64_t max_of_warp(std::uint64_t x) {
    for (int step = kLanes / 2; step > 0; step /= 2) {
      const std::uint64_t other = __shfl_xor_sync(~0u, static_cast<unsigned long long>(x), step);
      x = other > x ? other : x;
    }
    return x;
  }
  /// Returns the sum of the lanes up to this one.
  __device__ std::uint64_t up_to_lane(std::uint64_t x) const {
    for (int step = 1; step < kLanes; step *= 2) {
      const std::uint64_t other = __shfl_up_sync(~0u, static_cast<unsigned long long>(x), step);
      if (lane() >= step) x += other;
    }
    return x;
  }
#endif
};

}  // namespace sptile::runtime::cuda
