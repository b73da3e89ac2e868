// Split reductions: warps or blocks that share a row store partial sums in global memory, and the last one to
// arrive adds them. Which one is last varies from run to run; the order of the additions does not.
//
// The last one sees all partial sums by this chain in the causality order of the PTX memory model (PTX ISA,
// "Memory consistency model"):
//
//   1. Each lane stores its partial sum and then waits at a barrier with lane 0. The barrier synchronizes, so
//      the stores precede everything that lane 0 does after it.
//   2. Lane 0 increments the counter with atom.add.release at device scope (count_up): a release pattern,
//      which covers the stores of step 1 because causality order is transitive over the barrier.
//   3. Lane 0 of the last warp observes that increment or a later one of the same release sequence: all
//      increments are atomic read-modify-writes of one location. The __threadfence() after its own increment
//      completes the acquire pattern, so the release synchronizes with it.
//   4. Lane 0 waits at a barrier with the lanes that load the partial sums, which therefore follow the fence.
//
// The barriers must be __syncwarp() or __syncthreads(), which order memory among the participating threads.
// A shuffle does not, so the fence precedes the barrier instead of following a broadcast of the count. Only
// the last lane 0 executes a fence: a fence invalidates L1, which holds the rows of B that other warps use.
//
// Counters are zero before a launch, and the last one to arrive resets its counter for the next launch.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/cuda/collective/warp.cuh"
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
template <int kLanes = kWarpSize>
__device__ __forceinline__ bool warp_arrives_last(unsigned* arrived, std::int32_t members, int lane,
                                                  bool counted = true) {
  __syncwarp();
  bool last = false;
  if (counted && lane == 0) last = thread_arrives_last(arrived, members);
  last = __shfl_sync(kFullMask, last, 0, kLanes);
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

/// Returns the index of element i in an array of layout [i][head][slice]: counters of split rows, and groups
/// of partial sums of segments.
__device__ __forceinline__ std::int64_t part_index(std::int64_t i, int heads, std::int64_t head, int slices,
                                                   int slice) {
  return (i * heads + head) * slices + slice;
}

/// Stores the partial sums of a lane for warps on other multiprocessors: past L1, in words of 16 bytes if the
/// sums fill them. `to` is aligned to 16 bytes then.
template <class T, int kCount>
__device__ __forceinline__ void store_partial(T* to, const T (&sums)[kCount]) {
  if constexpr (kCount * sizeof(T) % sizeof(uint4) == 0) {
    constexpr int kWords = kCount * sizeof(T) / sizeof(uint4);
    uint4 words[kWords];
    __builtin_memcpy(words, sums, sizeof words);
#pragma unroll
    for (int i = 0; i < kWords; ++i) __stcg(reinterpret_cast<uint4*>(to) + i, words[i]);
  } else {
#pragma unroll
    for (int e = 0; e < kCount; ++e) __stcg(to + e, sums[e]);
  }
}

/// Adds partial sums that store_partial has stored.
template <class T, int kCount>
__device__ __forceinline__ void add_partial(T (&sums)[kCount], const T* from) {
  T partial[kCount];
  if constexpr (kCount * sizeof(T) % sizeof(uint4) == 0) {
    constexpr int kWords = kCount * sizeof(T) / sizeof(uint4);
    uint4 words[kWords];
#pragma unroll
    for (int i = 0; i < kWords; ++i) words[i] = __ldcg(reinterpret_cast<const uint4*>(from) + i);
    __builtin_memcpy(partial, words, sizeof words);
  } else {
#pragma unroll
    for (int e = 0; e < kCount; ++e) partial[e] = __ldcg(from + e);
  }
#pragma unroll
  for (int e = 0; e < kCount; ++e) sums[e] += partial[e];
}

/// Slots and counters of a tree of partial sums: `count` slots from first_slot on, of which this warp has
/// number `place`. `arrived` is the first counter; counters are `stride` apart.
struct SumTree {
  std::int32_t first_slot, count, place;
  unsigned* arrived;
  std::int64_t stride;
};

/// Adds partial sums in a tree whose nodes have kFanout children each: the last warp of a group to arrive
/// adds the group's sums in order and takes part in the next level. Returns true to the warp that then has
/// the sums of all slots. Sums has clear(), store_partial(slot) and add_partial(slot); kTogether calls of the
/// latter are unrolled. O(kFanout log(count)) additions in sequence.
template <int kFanout, int kTogether, class Sums>
__device__ __forceinline__ bool merge_tree(Sums& sums, SumTree tree, int lane) {
  std::int32_t step = 1;
  sums.store_partial(tree.first_slot + tree.place);
  while (tree.count > 1) {
    const std::int32_t group = tree.place / kFanout, first = group * kFanout;
    const std::int32_t members = min(kFanout, tree.count - first);
    if (!warp_arrives_last(tree.arrived + std::int64_t{group} * tree.stride, members, lane)) return false;
    sums.clear();
#pragma unroll kTogether
    for (std::int32_t i = 0; i < members; ++i) sums.add_partial(tree.first_slot + (first + i) * step);
    const std::int32_t groups = (tree.count + kFanout - 1) / kFanout;
    tree.arrived += groups * tree.stride;
    tree.count = groups;
    if (groups > 1) sums.store_partial(tree.first_slot + first * step);
    tree.place = group;
    step *= kFanout;
  }
  return true;
}

}  // namespace sptile::runtime::cuda
