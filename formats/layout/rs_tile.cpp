#include "formats/layout/rs_tile.hpp"

#include <bit>
#include <vector>

#include "formats/layout/blocks.hpp"
#include "formats/layout/invariants.hpp"
#include "formats/layout/rs_tile_rules.hpp"

namespace sptile::formats {
namespace {

using A = RsTileArray;
constexpr int kWindowRows = 8;
constexpr ArraySpec kArrays[] = {{"row_window_id", DType::i32},
                                 {"row_window_offset", DType::i32},
                                 {"value_offset", DType::i64},
                                 {"window_flags", DType::u8},
                                 {"bitmap", DType::u64},
                                 {"col_id", DType::i32, false, true},
                                 {"values", DType::none, true},
                                 {"residual_row_id", DType::i32},
                                 {"residual_class_offset", DType::i32},
                                 {"residual_col_id", DType::i32, false, true},
                                 {"residual_values", DType::none, true}};
constexpr FormatParameter kSetting = {.name = "setting",
                                      .summary = "selection of residual rows and splitting of windows",
                                      .unit = "(packed rule, tau_nnz, tau_inc and split)",
                                      .min = 0,
                                      .max = kRsTileMaxParameter,
                                      .on_device = true};

std::int64_t tc_blocks(const FormatView& view) { return view.array(A::bitmap).size; }

Status check_tc_lengths(const FormatView& view) {
  const std::int64_t windows = view.array(A::row_window_id).size;
  if (Status s = check_whole_tiles(view, A::col_id); !s) return s;
  const std::int64_t tiles = view.array(A::col_id).size / 8;
  if (windows > tiles)  // every window has a tile; this also bounds windows + 1
    return broken_length(view, A::row_window_id,
                         "at most one for each of " + std::to_string(tiles) + " tiles");
  if (Status s = check_length(view, A::row_window_offset, windows + 1, "windows + 1"); !s) return s;
  if (Status s = check_length(view, A::value_offset, windows + 1, "windows + 1"); !s) return s;
  if (Status s = check_length(view, A::window_flags, windows, "one per window"); !s) return s;
  return check_length(view, A::bitmap, tiles, "one per 8 columns of col_id");
}

Status check_lengths(const FormatView& view) {
  if (Status s = check_shape(view); !s) return s;
  if (Status s = check_tc_lengths(view); !s) return s;
  const std::int64_t residual = view.array(A::residual_col_id).size;
  const std::int64_t classes = view.array(A::residual_class_offset).size;
  if (residual > view.nnz)
    return broken_length(view, A::residual_col_id,
                         "at most the " + std::to_string(view.nnz) + " entries of the matrix");
  if (view.array(A::residual_row_id).size > view.rows)
    return broken_length(view, A::residual_row_id, "at most " + std::to_string(view.rows) + " (rows)");
  if (classes < 2 || classes > view.cols + 2)
    return broken_length(view, A::residual_class_offset,
                         "2 to " + std::to_string(view.cols + 2) + " (columns + 2)");
  if (Status s = check_length(view, A::values, view.nnz - residual, "entries outside the residual part"); !s)
    return s;
  return check_length(view, A::residual_values, residual, "one per residual_col_id");
}

/// Returns whether window w is a piece of the same split window as w - 1.
bool continues(const RsTileView& a, std::int64_t w) {
  return w > 0 &&
         a.row_window_id[static_cast<std::size_t>(w)] == a.row_window_id[static_cast<std::size_t>(w) - 1];
}

/// Checks the first row of window w, and that its flag is consistent with its neighbors.
Status check_window_row(const FormatView& view, const RsTileView& a, std::size_t w) {
  const auto index = static_cast<std::int64_t>(w);
  const std::int64_t row = a.row_window_id[w];
  const bool is_piece = continues(a, index);
  const bool continued = w + 1 < a.row_window_id.size() && row == a.row_window_id[w + 1];
  const std::int64_t lowest =
      w == 0 || is_piece ? 0 : std::max<std::int64_t>(a.row_window_id[w - 1], -kWindowRows) + kWindowRows;
  if (row < lowest || row >= view.rows)
    return broken_element(view, A::row_window_id, index, row,
                          std::to_string(lowest) + " to " + std::to_string(view.rows - 1) +
                              " (windows ascend and do not overlap)");
  const int flag = is_piece || continued ? kRsTileSplit : 0;
  if (a.window_flags[w] != flag)
    return broken_element(view, A::window_flags, index, a.window_flags[w],
                          std::to_string(flag) + (flag != 0 ? " (a neighbouring piece has the same rows)"
                                                            : " (no neighbouring piece has the same rows)"));
  if (a.row_window_offset[w] == a.row_window_offset[w + 1])
    return broken_element(view, A::row_window_offset, index + 1, a.row_window_offset[w + 1],
                          "more than " + std::to_string(a.row_window_offset[w]) + " (no window is empty)");
  return {};
}

/// Checks the tiles of window w. The columns of a split window ascend across its pieces.
Status check_window_tiles(const FormatView& view, const RsTileView& a, std::size_t w,
                          WindowColumnsCheck& columns) {
  const int rows = rows_in_window(view, a.row_window_id[w], kWindowRows);
  const bool continued = w + 1 < a.row_window_id.size() && a.row_window_id[w] == a.row_window_id[w + 1];
  const std::int64_t end = a.row_window_offset[w + 1];
  std::int64_t entries = a.value_offset[w];
  if (!continues(a, static_cast<std::int64_t>(w))) columns.begin_window();
  for (std::int64_t t = a.row_window_offset[w]; t < end; ++t) {
    const std::uint64_t mask = a.bitmap[static_cast<std::size_t>(t)];
    if (Status s = check_rows_exist(view, A::bitmap, t, mask, rows); !s) return s;
    if (Status s = columns.next(t, used_columns(mask), t + 1 == end && !continued); !s) return s;
    entries += std::popcount(mask);
  }
  if (entries == a.value_offset[w + 1]) return {};
  return broken_element(view, A::value_offset, static_cast<std::int64_t>(w) + 1, a.value_offset[w + 1],
                        std::to_string(entries) + ", as the bitmaps of window " + std::to_string(w) + " say");
}

/// Checks that the classes add up to the residual nonzeros. Sums cannot overflow: they are at most rows *
/// (columns + 1).
Status check_classes(const FormatView& view, const RsTileView& a, int threads) {
  const auto rows = static_cast<std::int64_t>(a.residual_row_id.size());
  if (Status s = check_offsets(view, A::residual_class_offset, a.residual_class_offset, rows, threads); !s)
    return s;
  if (a.residual_class_offset[1] != 0)
    return broken_element(view, A::residual_class_offset, 1, a.residual_class_offset[1],
                          "0 (empty rows are not stored)");
  std::int64_t entries = 0;
  for (std::size_t c = 1; c + 1 < a.residual_class_offset.size(); ++c)
    entries += static_cast<std::int64_t>(c) * (a.residual_class_offset[c + 1] - a.residual_class_offset[c]);
  if (entries == static_cast<std::int64_t>(a.residual_col_id.size())) return {};
  return fail(Errc::bad_input, "rs_tile: residual_class_offset counts " + std::to_string(entries) +
                                   " entries, expected " + std::to_string(a.residual_col_id.size()) +
                                   ", the length of residual_col_id");
}

/// Checks the residual rows, class by class, and marks them.
Status check_residual_rows(const FormatView& view, const RsTileView& a, std::vector<bool>& is_residual) {
  std::size_t entry = 0;
  for (std::size_t c = 1; c + 1 < a.residual_class_offset.size(); ++c) {
    std::int64_t previous_row = -1;
    for (auto i = a.residual_class_offset[c]; i < a.residual_class_offset[c + 1]; ++i) {
      const std::int64_t row = a.residual_row_id[static_cast<std::size_t>(i)];
      if (row <= previous_row || row >= view.rows)
        return broken_element(view, A::residual_row_id, i, row,
                              std::to_string(previous_row + 1) + " to " + std::to_string(view.rows - 1) +
                                  " (rows of a class ascend)");
      if (is_residual[static_cast<std::size_t>(row)])
        return broken_element(view, A::residual_row_id, i, row, "a row that no other class has");
      is_residual[static_cast<std::size_t>(row)] = true;
      previous_row = row;
      std::int64_t previous = -1;
      for (const std::size_t end = entry + c; entry < end; ++entry) {
        const std::int64_t column = a.residual_col_id[entry];
        if (column <= previous || column >= view.cols)
          return broken_column(view, A::residual_col_id, static_cast<std::int64_t>(entry), column, previous,
                               row);
        previous = column;
      }
    }
  }
  return {};
}

/// Checks that no row of window w is a residual row.
Status check_rows_not_residual(const FormatView& view, const RsTileView& a, std::size_t w,
                               const std::vector<bool>& is_residual) {
  const std::int64_t first = a.row_window_id[w];
  for (int r = 0; r < rows_in_window(view, first, kWindowRows); ++r)
    if (is_residual[static_cast<std::size_t>(first + r)])
      return broken_element(
          view, A::row_window_id, static_cast<std::int64_t>(w), first,
          "a window without residual rows, but row " + std::to_string(first + r) + " is one");
  return {};
}

Status check_window(const FormatView& view, const RsTileView& a, std::size_t w, WindowColumnsCheck& columns,
                    const std::vector<bool>& is_residual) {
  if (Status s = check_window_row(view, a, w); !s) return s;
  if (Status s = check_window_tiles(view, a, w, columns); !s) return s;
  return is_residual.empty() ? Status() : check_rows_not_residual(view, a, w, is_residual);
}

Status check_contents(const FormatView& view, int threads) {
  const RsTileView a = as_rs_tile(view);
  const auto residual = static_cast<std::int64_t>(a.residual_col_id.size());
  if (Status s = check_offsets(view, A::row_window_offset, a.row_window_offset, tc_blocks(view), threads); !s)
    return s;
  if (Status s = check_offsets(view, A::value_offset, a.value_offset, view.nnz - residual, threads); !s)
    return s;
  if (Status s = check_classes(view, a, threads); !s) return s;
  std::vector<bool> is_residual(a.residual_row_id.empty() ? 0 : static_cast<std::size_t>(view.rows));
  if (Status s = check_residual_rows(view, a, is_residual); !s) return s;
  const auto windows = static_cast<std::int64_t>(a.row_window_id.size());
  return check_ranges(windows, threads, [&](std::int64_t first, std::int64_t last) -> Status {
    WindowColumnsCheck columns(view, A::col_id, a.col_id);
    // The range that contains the first piece of a split window checks all of its pieces.
    while (first > 0 && first < last && continues(a, first)) ++first;
    while (first < last && last < windows && continues(a, last)) ++last;
    for (std::int64_t w = first; w < last; ++w)
      if (Status s = check_window(view, a, static_cast<std::size_t>(w), columns, is_residual); !s) return s;
    return {};
  });
}

Blocks blocks(const FormatView& view) {
  Blocks blocks;
  blocks.placement = WindowPlacement::scattered;
  blocks.window_rows = kWindowRows;
  blocks.tile_offset = view.array(A::row_window_offset).as<std::int32_t>();
  blocks.columns = view.array(A::col_id).as<std::int32_t>();
  blocks.first_row = view.array(A::row_window_id).as<std::int32_t>();
  blocks.window_value = view.array(A::value_offset).as<std::int64_t>();
  blocks.masks = static_cast<const std::byte*>(view.array(A::bitmap).data);
  blocks.mask_bytes = 8;
  blocks.rows = {.ids = view.array(A::residual_row_id).as<std::int32_t>(),
                 .offset = {},
                 .class_offset = view.array(A::residual_class_offset).as<std::int32_t>(),
                 .columns = view.array(A::residual_col_id).as<std::int32_t>()};
  return blocks;
}

}  // namespace

constexpr FormatLayout kRsTileLayout = {.name = "rs_tile",
                                        .summary = "8x8 tiles plus short residual rows (RSH-SpMM)",
                                        .group = "/formats/rs_tile",
                                        .window_rows = kWindowRows,
                                        .tile_rows = kWindowRows,
                                        .tile_cols = 8,
                                        .arrays = kArrays,
                                        .check_lengths = check_lengths,
                                        .check_contents = check_contents,
                                        .tc_blocks = tc_blocks,
                                        .blocks = blocks,
                                        .parameter = &kSetting};

RsTileView as_rs_tile(const FormatView& view) { return typed_view<RsTileView, 11>(view); }

}  // namespace sptile::formats
