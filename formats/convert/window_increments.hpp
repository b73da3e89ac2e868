// How many distinct columns the window of 8 rows has that starts at each row, for all rows in one pass.
#pragma once

#include <cstdint>

#include "formats/core/buffer.hpp"
#include "formats/core/csr_view.hpp"

namespace sptile::formats {

/// Both arrays have one element per row r. Rows past the end are empty.
struct WindowIncrements {
  Buffer<std::int32_t> columns;  ///< distinct columns of rows r to r + 7
  Buffer<std::uint8_t>
      increment;  ///< columns of row r that rows r + 1 to r + 7 do not have; 255: 255 or more
};

/// Counts them. An entry is new to a window when the row that last had its column stands in front of the
/// window: one look at that row tells it for all eight windows that hold the entry. Parallel; O(entries +
/// rows), and for each thread 4 bytes of address space per column, of which it touches those that it meets;
/// columns count as far as CompactColumns has them.
WindowIncrements window_increments(const CsrView& a);

}  // namespace sptile::formats
