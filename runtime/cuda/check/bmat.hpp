// Check of `bmat` on a device.
#pragma once

#include "formats/layout/bmat.hpp"
#include "runtime/cuda/check/columns.hpp"
#include "runtime/cuda/check/contents_workspace.hpp"

namespace sptile::runtime::cuda {

/// Checks that words have no bits in rows past the end of the matrix, and valid columns; counts the entries
/// of windows. The tiles of a step are contiguous, so that few steps share a window.
struct CheckBmatTiles {
  TileColumns columns;
  const std::uint32_t* bits;
  std::uint64_t* entries;  ///< per window
  std::uint32_t* fault;

  SPTILE_HOST_DEVICE static unsigned used_columns(std::uint32_t word) {
    word |= word >> 16;
    word |= word >> 8;
    word |= word >> 4;
    return word & 0xF;
  }
  /// Word w covers rows 8 * (w % 2) to 8 * (w % 2) + 7.
  SPTILE_HOST_DEVICE static bool rows_exist(std::uint32_t word, int w, int rows) {
    const int left = rows - 8 * (w % 2);
    return left >= 8 || (left <= 0 ? word : word >> (4 * left)) == 0;
  }
  SPTILE_HOST_DEVICE bool holds(std::int64_t tile, std::int64_t window, std::uint64_t& counted) const {
    const int rows = columns.rows_of(window);
    unsigned used = 0;
    bool good = true;
    for (int w = 0; w < 4; ++w) {
      const std::uint32_t word = bits[4 * tile + w];
      good &= rows_exist(word, w, rows);
      counted += static_cast<std::uint64_t>(count_bits(word));
      used |= used_columns(word) << (4 * (w / 2));
    }
    return good && columns.hold(tile, window, used);
  }
  SPTILE_HOST_DEVICE void operator()(std::int64_t step) const {
    std::int64_t counting = -1;
    std::uint64_t counted = 0;
    columns.windows.visit(step, [&](std::int64_t tile, std::int64_t window) {
      if (window != counting && counting >= 0) atomic_add(entries + counting, counted);
      if (window != counting) counted = 0;
      counting = window;
      note_fault(fault, holds(tile, window, counted));
    });
    if (counting >= 0) atomic_add(entries + counting, counted);
  }
};

/// Checks the number of entries of each window against the offsets.
struct CheckBmatEntries {
  const std::int64_t* offset;
  const std::uint64_t* entries;
  std::uint32_t* fault;

  SPTILE_HOST_DEVICE void operator()(std::int64_t window) const {
    note_fault(fault, offset[window + 1] - offset[window] == static_cast<std::int64_t>(entries[window]));
  }
};

template <class Run>
void check_bmat_on(Run& run, const formats::FormatView& view, const ContentsWorkspace& workspace) {
  const formats::BmatView a = formats::as_bmat(view);
  const std::int64_t windows = std::ssize(a.row_window_offset) - 1;
  const TileColumns columns{{a.row_window_offset.data(), windows, std::ssize(a.bits) / 4},
                            a.col_id.data(),
                            a.rows,
                            a.cols,
                            view.layout->window_rows};
  run.each(columns.windows.steps(),
           CheckBmatTiles{columns, a.bits.data(), workspace.window_entries, workspace.fault});
  run.each(windows, CheckBmatEntries{a.value_offset.data(), workspace.window_entries, workspace.fault});
}

}  // namespace sptile::runtime::cuda
