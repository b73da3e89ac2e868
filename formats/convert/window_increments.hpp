// Number of distinct columns of the 8-row window that starts at each row, for all rows in one pass.
#pragma once

#include <cstdint>

#include "formats/core/buffer.hpp"
#include "formats/core/csr_view.hpp"

namespace sptile::formats {

/// Arrays with one element per row r. Rows past the end count as empty.
struct WindowIncrements {
  Buffer<std::int32_t> columns;    ///< distinct columns of rows r to r + 7
  Buffer<std::uint8_t> increment;  ///< columns of row r absent from rows r + 1 to r + 7, clamped to 255
};

/// Computes both arrays. A nonzero is new to a window if the last row with the same column precedes the
/// window; one lookup of that row decides this for all eight windows that contain the nonzero. Parallel;
/// O(nnz + rows). Reserves 4 bytes of address space per column and thread, and touches only columns in use;
/// CompactColumns bounds the number of columns.
WindowIncrements window_increments(const CsrView& a);

}  // namespace sptile::formats
