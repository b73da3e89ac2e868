// Check of `bittcf` on a device.
#pragma once

#include "formats/layout/bittcf.hpp"
#include "runtime/cuda/check/columns.hpp"
#include "runtime/cuda/check/contents_workspace.hpp"

namespace sptile::runtime::cuda {

/// Checks that masks have the number of bits given by offsets, no bits in rows past the end of the matrix,
/// and valid columns.
struct CheckBitTcfTiles {
  TileColumns columns;
  const std::uint64_t* masks;
  const std::uint32_t* offset;
  std::uint32_t* fault;

  SPTILE_HOST_DEVICE static unsigned used_columns(std::uint64_t mask) {
    mask |= mask >> 32;
    mask |= mask >> 16;
    mask |= mask >> 8;
    return static_cast<unsigned>(mask & 0xFF);
  }
  SPTILE_HOST_DEVICE bool holds(std::int64_t tile, std::int64_t window) const {
    const std::uint64_t mask = masks[tile];
    const int rows = columns.rows_of(window);
    return static_cast<std::uint32_t>(count_bits(mask)) == offset[tile + 1] - offset[tile] &&
           (rows == 8 || mask >> (8 * rows) == 0) && columns.hold(tile, window, used_columns(mask));
  }
  SPTILE_HOST_DEVICE void operator()(std::int64_t step) const {
    columns.windows.visit_apart(
        step, [&](std::int64_t tile, std::int64_t window) { note_fault(fault, holds(tile, window)); });
  }
};

template <class Run>
void check_bittcf_on(Run& run, const formats::FormatView& view, const ContentsWorkspace& workspace) {
  const formats::BitTcfView a = formats::as_bittcf(view);
  const TileColumns columns{
      {a.row_window_offset.data(), std::ssize(a.row_window_offset) - 1, std::ssize(a.tc_local_bit)},
      a.sparse_a_to_b.data(),
      a.rows,
      a.cols,
      view.layout->window_rows};
  run.each(columns.windows.steps_apart(),
           CheckBitTcfTiles{columns, a.tc_local_bit.data(), a.tc_offset.data(), workspace.fault});
}

}  // namespace sptile::runtime::cuda
