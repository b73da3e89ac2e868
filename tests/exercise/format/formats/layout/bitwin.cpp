#include "formats/layout/bitwin.hpp"

#include <bit>

#include "formats/layout/blocks.hpp"
#include "formats/layout/invariants.hpp"

namespace sptile::formats {
namespace {

using A = BitwinArray;
constexpr int kWindowRows = 8;
constexpr ArraySpec kArrays[] = {{"row_window_offset", DType::i32},
                                 {"value_offset", DType::i64},
                                 {"bitmap", DType::u64},
                                 {"col_id", DType::i32, false, true},
                                 {"values", DType::none, true}};

std::int64_t tc_blocks(const FormatView& view) { return view.array(A::bitmap).size; }

Status check_lengths(const FormatView& view) {
  if (Status s = check_shape(view); !s) return s;
  const std::int64_t windows = (view.rows + kWindowRows - 1) / kWindowRows;
  if (Status s = check_length(view, A::row_window_offset, windows + 1, "windows of 8 rows, + 1"); !s)
    return s;
  if (Status s = check_length(view, A::value_offset, windows + 1, "windows of 8 rows, + 1"); !s) return s;
  if (Status s = check_whole_tiles(view, A::col_id); !s) return s;
  if (Status s = check_length(view, A::bitmap, view.array(A::col_id).size / 8, "one per 8 columns of col_id");
      !s)
    return s;
  return check_length(view, A::values, view.nnz, "one per entry");
}

Status check_window(const FormatView& view, const BitwinView& a, std::int64_t window,
                    WindowColumnsCheck& columns) {
  const auto w = static_cast<std::size_t>(window);
  const std::int64_t end = a.row_window_offset[w + 1];
  const int rows = rows_in_window(view, window * kWindowRows, kWindowRows);
  std::int64_t entries = a.value_offset[w];
  columns.begin_window();
  for (std::int64_t t = a.row_window_offset[w]; t < end; ++t) {
    const std::uint64_t mask = a.bitmap[static_cast<std::size_t>(t)];
    if (Status s = check_rows_exist(view, A::bitmap, t, mask, rows); !s) return s;
    if (Status s = columns.next(t, used_columns(mask), t + 1 == end); !s) return s;
    entries += std::popcount(mask);
  }
  if (entries == a.value_offset[w + 1]) return {};
  return broken_element(view, A::value_offset, window + 1, a.value_offset[w + 1],
                        std::to_string(entries) + ", as the bitmaps of the window say");
}

Status check_contents(const FormatView& view, int threads) {
  const BitwinView a = as_bitwin(view);
  if (Status s = check_offsets(view, A::row_window_offset, a.row_window_offset, tc_blocks(view), threads); !s)
    return s;
  if (Status s = check_offsets(view, A::value_offset, a.value_offset, view.nnz, threads); !s) return s;
  const std::int64_t windows = std::ssize(a.row_window_offset) - 1;
  return check_ranges(windows, threads, [&](std::int64_t first, std::int64_t last) -> Status {
    WindowColumnsCheck columns(view, A::col_id, a.col_id);
    for (std::int64_t w = first; w < last; ++w)
      if (Status s = check_window(view, a, w, columns); !s) return s;
    return {};
  });
}

Blocks blocks(const FormatView& view) {
  const BitwinView a = as_bitwin(view);
  Blocks blocks;
  blocks.placement = WindowPlacement::regular;
  blocks.window_rows = kWindowRows;
  blocks.tile_offset = a.row_window_offset;
  blocks.columns = a.col_id;
  blocks.window_value = a.value_offset;
  blocks.masks = reinterpret_cast<const std::byte*>(a.bitmap.data());
  blocks.mask_bytes = 8;
  return blocks;
}

}  // namespace

constexpr FormatLayout kBitwinLayout = {.name = "bitwin",
                                        .summary = "a toy: 8x8 tiles with masks, entries counted per window",
                                        .group = "/formats/bitwin",
                                        .window_rows = kWindowRows,
                                        .tile_rows = kWindowRows,
                                        .tile_cols = 8,
                                        .arrays = kArrays,
                                        .check_lengths = check_lengths,
                                        .check_contents = check_contents,
                                        .tc_blocks = tc_blocks,
                                        .blocks = blocks};

BitwinView as_bitwin(const FormatView& view) {
  return {view.rows,
          view.cols,
          view.nnz,
          view.array(A::row_window_offset).as<std::int32_t>(),
          view.array(A::value_offset).as<std::int64_t>(),
          view.array(A::bitmap).as<std::uint64_t>(),
          view.array(A::col_id).as<std::int32_t>(),
          view.array(A::values)};
}

}  // namespace sptile::formats
