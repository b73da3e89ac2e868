// Position of a sorted group in a tall window.
#pragma once

#include <cstdint>

#include "runtime/cuda/device/qualifiers.hpp"

namespace sptile::runtime::cuda {

/// Returns the place that formats::BitReversedOrder assigns to a sorted group of `groups`: the number of
/// integers below `groups` whose bit reversal is less than that of `sorted`. O(log groups).
SPTILE_HOST_DEVICE std::int64_t tall_place(std::int64_t sorted, std::int64_t groups) {
  std::int64_t place = 0;
  for (int bit = 0; (groups - 1) >> bit != 0; ++bit) {
    // Integers that agree with `sorted` below this bit, and have a 0 for its 1, precede it.
    const std::int64_t low = sorted & ((std::int64_t{1} << bit) - 1);
    if ((sorted >> bit & 1) != 0) place += (groups - 1 - low) / (std::int64_t{2} << bit) + 1;
  }
  return place;
}

}  // namespace sptile::runtime::cuda
