// Where a sorted group of a tall window stands.
#pragma once

#include <cstdint>

#include "runtime/cuda/device/qualifiers.hpp"

namespace sptile::runtime::cuda {

/// The place that formats::TallDeal gives a sorted group of `groups`: how many numbers below `groups` have
/// reversed bits below those of `sorted`, reversed. O(log groups).
SPTILE_HOST_DEVICE std::int64_t tall_place(std::int64_t sorted, std::int64_t groups) {
  std::int64_t place = 0;
  for (int bit = 0; (groups - 1) >> bit != 0; ++bit) {
    // Numbers that agree with `sorted` below this bit, and have 0 where it has 1, come first.
    const std::int64_t low = sorted & ((std::int64_t{1} << bit) - 1);
    if ((sorted >> bit & 1) != 0) place += (groups - 1 - low) / (std::int64_t{2} << bit) + 1;
  }
  return place;
}

}  // namespace sptile::runtime::cuda
