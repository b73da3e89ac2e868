// Addition of the sums of a window in pieces, without a second kernel and in an order that does not depend on
// timing.
#pragma once

#include <cstdint>

#include "runtime/cuda/device/split.cuh"
#include "runtime/cuda/families/tile/division.hpp"

namespace sptile::runtime::cuda {

/// Stores the sums of a piece in its slot; the last warp to arrive adds those of its group, and so on for
/// higher levels. Which warp that is varies, the order of the additions does not. Returns true for the one
/// warp that then has the sums of the entire window. `arrived` is the first counter of the window, `stride`
/// the distance to the next. Sums has clear(), store_partial(slot) and add_partial(slot); kTogether of the
/// latter are in flight at a time.
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
