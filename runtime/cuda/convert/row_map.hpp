// Algorithm 1 of RSH-SpMM in parallel. It goes from row to row: one on, or eight on where a window starts.
// What it does in some rows depends on those in front of them only by the row at which it comes in, one of
// eight.
#pragma once

#include <cstdint>

#include "runtime/cuda/device/qualifiers.hpp"

namespace sptile::runtime::cuda {

/// From the row at which a walk enters some rows (0 to 7, counted from their first) to the row at which it
/// enters those behind them; 4 bits each.
using RowMap = std::uint32_t;

inline constexpr RowMap kSameRow = 0x76543210;
inline constexpr RowMap kFirstRow = 0;  ///< a walk that starts anew

SPTILE_HOST_DEVICE int leave(RowMap map, int enter) { return static_cast<int>(map >> (4 * enter) & 0xF); }

/// First one part, then the one behind it.
struct ComposeRowMaps {
  SPTILE_HOST_DEVICE RowMap operator()(RowMap front, RowMap back) const {
    RowMap map = 0;
    for (int enter = 0; enter < 8; ++enter)
      map |= static_cast<RowMap>(leave(back, leave(front, enter))) << (4 * enter);
    return map;
  }
};

/// Puts a row in front of some rows: a walk that is at this row goes `step` rows (1 or 8) on.
SPTILE_HOST_DEVICE RowMap with_row_in_front(RowMap map, int step) {
  return map << 4 | static_cast<RowMap>(leave(map, step - 1));
}

}  // namespace sptile::runtime::cuda
