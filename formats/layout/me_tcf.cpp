#include "formats/layout/me_tcf.hpp"

#include "formats/layout/blocks.hpp"
#include "formats/layout/invariants.hpp"

namespace sptile::formats {
namespace {

using A = MeTcfArray;
constexpr int kWindowRows = 16;
constexpr ArraySpec kArrays[] = {{"row_window_offset", DType::i32},
                                 {"tc_offset", DType::u32},
                                 {"tc_local_id", DType::u8},
                                 {"sparse_a_to_b", DType::i32, false, true},
                                 {"values", DType::none, true}};

std::int64_t tc_blocks(const FormatView& view) { return view.array(A::sparse_a_to_b).size / 8; }

Status check_lengths(const FormatView& view) {
  if (Status s = check_shape(view, std::numeric_limits<std::uint32_t>::max()); !s) return s;
  const std::int64_t windows = (view.rows + kWindowRows - 1) / kWindowRows;
  if (Status s = check_length(view, A::row_window_offset, windows + 1, "windows of 16 rows, + 1"); !s)
    return s;
  if (Status s = check_whole_tiles(view, A::sparse_a_to_b); !s) return s;
  if (Status s = check_length(view, A::tc_offset, tc_blocks(view) + 1, "tiles + 1"); !s) return s;
  if (Status s = check_length(view, A::tc_local_id, view.nnz, "one per entry"); !s) return s;
  return check_length(view, A::values, view.nnz, "one per entry");
}

/// Checks the local ids of one tile; sets the mask of its nonempty columns.
Status check_tile(const FormatView& view, const MeTcfView& a, std::int64_t tile, int rows, unsigned& used) {
  int previous = -1;
  for (std::size_t i = a.tc_offset[static_cast<std::size_t>(tile)];
       i < a.tc_offset[static_cast<std::size_t>(tile) + 1]; ++i) {
    const int id = a.tc_local_id[i];
    if (id <= previous || id >= 8 * rows)
      return broken_element(view, A::tc_local_id, static_cast<std::int64_t>(i), id,
                            std::to_string(previous + 1) + " to " + std::to_string(8 * rows - 1) +
                                " (ids of tile " + std::to_string(tile) + " ascend)");
    used |= 1u << (id % 8);
    previous = id;
  }
  return {};
}

Status check_all_offsets(const FormatView& view, int threads) {
  return check_tile_offsets(view, A::row_window_offset, A::tc_offset, view.nnz, threads);
}

Status check_contents(const FormatView& view, int threads) {
  const MeTcfView a = as_me_tcf(view);
  if (Status s = check_all_offsets(view, threads); !s) return s;
  return check_regular_windows(
      view, A::row_window_offset, A::sparse_a_to_b, {}, kWindowRows, threads,
      [&](std::int64_t tile, int rows, unsigned& used) { return check_tile(view, a, tile, rows, used); });
}

Blocks blocks(const FormatView& view) {
  Blocks blocks;
  blocks.placement = WindowPlacement::regular;
  blocks.window_rows = kWindowRows;
  blocks.tile_offset = view.array(A::row_window_offset).as<std::int32_t>();
  blocks.columns = view.array(A::sparse_a_to_b).as<std::int32_t>();
  blocks.tile_value = view.array(A::tc_offset).as<std::uint32_t>();
  return blocks;
}

}  // namespace

constexpr FormatLayout kMeTcfLayout = {.name = "me_tcf",
                                       .summary = "16x8 tiles, one byte per entry (DTC-SpMM)",
                                       .group = "/formats/me_tcf",
                                       .window_rows = kWindowRows,
                                       .tile_rows = kWindowRows,
                                       .tile_cols = 8,
                                       .arrays = kArrays,
                                       .check_lengths = check_lengths,
                                       .check_contents = check_contents,
                                       .tc_blocks = tc_blocks,
                                       .blocks = blocks,
                                       .check_offsets = check_all_offsets};

MeTcfView as_me_tcf(const FormatView& view) { return typed_view<MeTcfView, 5>(view); }

}  // namespace sptile::formats
