// Devices of the emulated runtime: schedules depend on the number of multiprocessors and the cache size.
#pragma once

#include <cstddef>

namespace sptile::test {

struct EmulatedDeviceSizes {
  int capability, sm_count, l2_bytes;
};
inline constexpr EmulatedDeviceSizes kEmulatedDevices[] = {
    {90, 1, 1 << 20},     // much work per warp: units are split
    {90, 132, 50 << 20},  // more warps than work: warps of a block share units
    {90, 2, 24 << 10},    // B exceeds the cache: slices are processed in sequence
};

}  // namespace sptile::test
