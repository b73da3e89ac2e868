// What the checks of formats with tiles have in common: the columns of a tile.
#pragma once

#include <cstdint>

#include "runtime/cuda/convert/csr_rows.hpp"

namespace sptile::runtime::cuda {

/// Notes that something is wrong. Whoever does writes the same.
SPTILE_HOST_DEVICE void note_fault(std::uint32_t* fault, bool good) {
  if (!good) *fault = 1;
}

/// Windows of tiles, and the columns of these, 8 each. The offsets are good; nothing else is known.
struct TileColumns {
  OffsetRows<std::int32_t> windows;  ///< what is an entry of a row there is a tile of a window
  const std::int32_t* ids;
  std::int64_t rows, cols;
  int window_rows;

  /// Rows of a window that exist.
  SPTILE_HOST_DEVICE int rows_of(std::int64_t window) const {
    const std::int64_t left = rows - window_rows * window;
    return left < window_rows ? static_cast<int>(left) : window_rows;
  }

  /// As formats::WindowColumnsCheck, for a tile alone: what it says of the tile in front holds when that
  /// one's own check does. Bit c of `used` tells that column c holds an entry.
  SPTILE_HOST_DEVICE bool hold(std::int64_t tile, std::int64_t window, unsigned used) const {
    const std::int32_t* const id = ids + 8 * tile;
    const bool last = tile + 1 == windows.row_ptr[window + 1];
    std::int32_t previous = tile == windows.row_ptr[window] ? -1 : id[-1];
    bool good = (used & (used + 1)) == 0 && (used == 0xFF || (used != 0 && last));
    for (int c = 0; c < 8; ++c) {
      good &= (used >> c & 1) != 0 ? id[c] > previous : id[c] == previous;
      previous = id[c];
    }
    return good && previous < cols;
  }
};

}  // namespace sptile::runtime::cuda
