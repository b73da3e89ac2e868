// The devices of the emulated runtime: schedules differ with the number of multiprocessors and the cache.
#pragma once

#include <cstddef>

namespace sptile::test {

struct EmulatedDeviceSizes {
  int capability, sm_count, l2_bytes;
};
inline constexpr EmulatedDeviceSizes kEmulatedDevices[] = {
    {90, 1, 1 << 20},     // much work per warp: units in pieces
    {90, 132, 50 << 20},  // more warps than work: those of a block share it
    {90, 2, 36 << 10},    // a cache that does not hold B: slices one after the other
    {90, 16, 1 << 20},    // several blocks share a window
};

}  // namespace sptile::test
