// Parallel version of RSH-SpMM, Algorithm 1, which advances by one row, or by eight at the start of a window.
// Its behavior in a range of rows depends on earlier rows only through the row at which it enters the range,
// one of eight.
#pragma once

#include <cstdint>

#include "runtime/cuda/device/qualifiers.hpp"

namespace sptile::runtime::cuda {

/// Maps the row at which the algorithm enters a range (0 to 7, relative to its start) to the row at which it
/// enters the next range; 4 bits each.
using RowMap = std::uint32_t;

inline constexpr RowMap kSameRow = 0x76543210;
inline constexpr RowMap kFirstRow = 0;  ///< start of the algorithm

SPTILE_HOST_DEVICE int leave(RowMap map, int enter) { return static_cast<int>(map >> (4 * enter) & 0xF); }

/// Composes two maps, `front` first.
struct ComposeRowMaps {
  SPTILE_HOST_DEVICE RowMap operator()(RowMap front, RowMap back) const {
    RowMap map = 0;
    for (int enter = 0; enter < 8; ++enter)
      map |= static_cast<RowMap>(leave(back, leave(front, enter))) << (4 * enter);
    return map;
  }
};

/// Prepends a row to a range: from this row the algorithm advances by `step` rows (1 or 8).
SPTILE_HOST_DEVICE RowMap with_row_in_front(RowMap map, int step) {
  return map << 4 | static_cast<RowMap>(leave(map, step - 1));
}

}  // namespace sptile::runtime::cuda
