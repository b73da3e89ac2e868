// Check for permutations on a device.
#pragma once

#include <cstdint>

#include "runtime/cuda/check/columns.hpp"

namespace sptile::runtime::cuda {

/// Checks that each position is in range and occurs once.
template <class Id>
struct CheckPermutation {
  const Id* ids;
  std::int64_t count;
  std::uint32_t* seen;  ///< one bit per position
  std::uint32_t* fault;

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t id = ids[i];
    const bool exists = id >= 0 && id < count;
    const std::uint32_t bit = std::uint32_t{1} << (id & 31);
    note_fault(fault, exists && (atomic_or(seen + id / 32, bit) & bit) == 0);
  }
};

}  // namespace sptile::runtime::cuda
