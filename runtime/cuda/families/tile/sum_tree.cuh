// Reduction of the partial sums of a split window, in one kernel and in an order that does not depend on
// timing.
#pragma once

#include <cstdint>

#include "runtime/cuda/device/split.cuh"
#include "runtime/cuda/families/tile/division.hpp"

namespace sptile::runtime::cuda {

/// Stores the sums of a segment to its slot. The last warp of a group of segments adds the group's partial
/// sums in order, and so on up the tree. Returns true to the warp that then has the sums of the window.
/// `arrived` is the first counter of the window, `stride` the distance to the next. Sums has clear(),
/// store_partial(slot) and add_partial(slot); kTogether of the latter are in flight.
template <int kTogether, class Sums>
__device__ __forceinline__ bool add_pieces(Sums& sums, const SplitWindow& split, std::int32_t slot,
                                           unsigned* arrived, std::int64_t stride, int lane) {
  std::int32_t place = slot - split.first_slot, count = split.count, step = 1;
  sums.store_partial(slot);
  while (count > 1) {
    const std::int32_t group = place / kSumGroup, first = group * kSumGroup;
    const std::int32_t members = min(kSumGroup, count - first);
    if (!warp_arrives_last(arrived + std::int64_t{group} * stride, members, lane)) return false;
    sums.clear();
#pragma unroll kTogether
    for (std::int32_t i = 0; i < members; ++i) sums.add_partial(split.first_slot + (first + i) * step);
    arrived += std::int64_t{sum_groups(count)} * stride;
    count = sum_groups(count);
    if (count > 1) sums.store_partial(split.first_slot + first * step);
    place = group;
    step *= kSumGroup;
  }
  return true;
}

}  // namespace sptile::runtime::cuda
