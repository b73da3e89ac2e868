// Split reductions: warps or blocks that share a sum leave partial sums in memory, and the last one to arrive
// adds them.
//
// The last one sees all partial sums because of this chain in the causality order of the PTX memory model:
//
//   1. Each lane stores its partial sum, then waits at a barrier with lane 0.
//   2. Lane 0 increments the counter (count_up, a release at device scope). The release covers the stores of
//      the other lanes as well, because the barrier precedes it.
//   3. Lane 0 of the last warp reads that count or a later one: all increments are one chain of atomic
//      operations. The __threadfence() behind its increment makes the pair an acquire.
//   4. Lane 0 waits at a barrier with the lanes that load the partial sums.
//
// The barriers must be __syncwarp() or __syncthreads(), which order memory among their threads. A shuffle
// does not. Only the last lane 0 pays for a fence, so L1 keeps the rows of B that other warps use.
#pragma once

#include <cstdint>

#include "runtime/cuda/device/ptx.cuh"

namespace sptile::runtime::cuda {

/// Steps 2 and 3: increments the counter. Returns true to the last of `members` threads and resets the
/// counter for the next launch. The caller provides the barriers.
__device__ __forceinline__ bool thread_arrives_last(unsigned* arrived, std::int32_t members) {
  if (count_up(arrived) + 1 != static_cast<unsigned>(members)) return false;
  __threadfence();
  *arrived = 0;
  return true;
}

/// All steps for groups of kLanes lanes, each with its own counter. Returns true to all lanes of a group that
/// arrives last. All lanes of the warp must call it; `counted` is false for groups without a partial sum.
/// `lane` is the number of the lane in its group.
template <int kLanes = 32>
__device__ __forceinline__ bool warp_arrives_last(unsigned* arrived, std::int32_t members, int lane,
                                                  bool counted = true) {
  __syncwarp();
  bool last = false;
  if (counted && lane == 0) last = thread_arrives_last(arrived, members);
  last = __shfl_sync(~0u, last, 0, kLanes);
  __syncwarp();
  return last;
}

/// All steps for a block. Returns true to all threads of the block that arrives last. `last` must be in
/// shared memory and have no other use.
__device__ __forceinline__ bool block_arrives_last(unsigned* arrived, std::int32_t members, bool& last) {
  __syncthreads();
  if (threadIdx.x == 0) last = thread_arrives_last(arrived, members);
  __syncthreads();
  return last;
}

}  // namespace sptile::runtime::cuda
