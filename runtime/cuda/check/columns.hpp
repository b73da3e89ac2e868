// Check of the columns of a tile, shared by formats with tiles.
#pragma once

#include <cstdint>

#include "runtime/cuda/convert/csr_rows.hpp"

namespace sptile::runtime::cuda {

/// Records a fault. Concurrent writers write the same value.
SPTILE_HOST_DEVICE void note_fault(std::uint32_t* fault, bool good) {
  if (!good) *fault = 1;
}

/// Windows of tiles, and their columns, 8 per tile. Only the offsets are known to be valid.
struct TileColumns {
  OffsetRows<std::int32_t> windows;  ///< offsets from windows to tiles, in place of rows and entries
  const std::int32_t* ids;
  std::int64_t rows, cols;
  int window_rows;

  /// Returns the number of rows of a window inside the matrix.
  SPTILE_HOST_DEVICE int rows_of(std::int64_t window) const {
    const std::int64_t left = rows - window_rows * window;
    return left < window_rows ? static_cast<int>(left) : window_rows;
  }

  /// Applies the rules of formats::WindowColumnsCheck to one tile, assuming that the previous tile is valid.
  /// Bit c of `used` is set if column c is nonempty.
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
