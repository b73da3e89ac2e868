// Check of `me_tcf` on a device.
#pragma once

#include "formats/layout/me_tcf.hpp"
#include "runtime/cuda/check/columns.hpp"
#include "runtime/cuda/check/contents_workspace.hpp"

namespace sptile::runtime::cuda {

/// Checks that the ids of a tile ascend, and are in rows inside the matrix and in valid columns.
struct CheckMeTcfTiles {
  static constexpr std::uint32_t kMaxEntries = 128;

  TileColumns columns;
  const std::uint8_t* ids;
  const std::uint32_t* offset;
  std::uint32_t* fault;

  SPTILE_HOST_DEVICE bool holds(std::int64_t tile, std::int64_t window) const {
    const std::uint32_t begin = offset[tile], entries = offset[tile + 1] - begin;
    if (entries > kMaxEntries) return false;  // more ids cannot be distinct
    int previous = -1;
    unsigned used = 0;
    bool good = true;
    for (std::uint32_t i = 0; i < entries; ++i) {
      const int id = ids[std::size_t{begin} + i];
      good &= id > previous;
      used |= 1u << id % 8;
      previous = id;
    }
    return good && previous < 8 * columns.rows_of(window) && columns.hold(tile, window, used);
  }
  SPTILE_HOST_DEVICE void operator()(std::int64_t step) const {
    columns.windows.visit_apart(
        step, [&](std::int64_t tile, std::int64_t window) { note_fault(fault, holds(tile, window)); });
  }
};

template <class Run>
void check_me_tcf_on(Run& run, const formats::FormatView& view, const ContentsWorkspace& workspace) {
  const formats::MeTcfView a = formats::as_me_tcf(view);
  const TileColumns columns{
      {a.row_window_offset.data(), std::ssize(a.row_window_offset) - 1, std::ssize(a.tc_offset) - 1},
      a.sparse_a_to_b.data(),
      a.rows,
      a.cols,
      view.layout->window_rows};
  run.each(columns.windows.steps_apart(),
           CheckMeTcfTiles{columns, a.tc_local_id.data(), a.tc_offset.data(), workspace.fault});
}

}  // namespace sptile::runtime::cuda
