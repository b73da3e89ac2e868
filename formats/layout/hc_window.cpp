#include "formats/layout/hc_window.hpp"

#include <algorithm>

#include "formats/layout/blocks.hpp"
#include "formats/layout/hc_rules.hpp"
#include "formats/layout/invariants.hpp"

namespace sptile::formats {
namespace {

using A = HcWindowArray;
constexpr int kWindowRows = 16;
constexpr ArraySpec kArrays[] = {{"row_window_offset", DType::i32},
                                 {"tc_offset", DType::u32},
                                 {"bitmap", DType::u64},
                                 {"col_id", DType::i32, false, true},
                                 {"values", DType::none, true},
                                 {"row_id", DType::i32},
                                 {"row_offset", DType::i64},
                                 {"row_col_id", DType::i32, false, true},
                                 {"row_values", DType::none, true}};
constexpr NamedValue kNames[] = {{"fitted", hc_parameter(kHcFitted)},
                                 {"paper", hc_parameter(kHcPaper)},
                                 {"tensor", hc_parameter(kHcAllTensor)},
                                 {"cuda", hc_parameter(kHcAllCuda)}};
constexpr FormatParameter kSelector = {.name = "selector",
                                       .summary = "weights that assign windows to tensor cores or CUDA cores",
                                       .unit = "(10 bits for each of three weights)",
                                       .min = 0,
                                       .max = kHcMaxParameter,
                                       .names = kNames,
                                       .standard = hc_parameter(kHcFitted),
                                       .fitted_for = "spmm",
                                       .on_device = true};

std::int64_t tc_blocks(const FormatView& view) { return view.array(A::col_id).size / 8; }
std::int64_t entries_in_rows(const FormatView& view) { return view.array(A::row_col_id).size; }

Status check_tile_lengths(const FormatView& view) {
  const std::int64_t windows = (view.rows + kWindowRows - 1) / kWindowRows;
  if (Status s = check_length(view, A::row_window_offset, windows + 1, "windows of 16 rows, + 1"); !s)
    return s;
  if (Status s = check_whole_tiles(view, A::col_id); !s) return s;
  if (Status s = check_length(view, A::tc_offset, tc_blocks(view) + 1, "tiles + 1"); !s) return s;
  return check_length(view, A::bitmap, 2 * tc_blocks(view), "two per 8 columns of col_id");
}

Status check_row_lengths(const FormatView& view) {
  const std::int64_t rows = view.array(A::row_id).size, entries = entries_in_rows(view);
  const auto at_most = [](std::int64_t max, const char* what) {
    return "at most " + std::to_string(max) + " (" + what + " of the matrix)";
  };
  if (entries > view.nnz) return broken_length(view, A::row_col_id, at_most(view.nnz, "entries"));
  if (rows > view.rows) return broken_length(view, A::row_id, at_most(view.rows, "rows"));
  if (Status s = check_length(view, A::row_offset, rows + 1, "one per element of row_id, + 1"); !s) return s;
  if (Status s = check_length(view, A::values, view.nnz - entries, "entries outside row_col_id"); !s)
    return s;
  return check_length(view, A::row_values, entries, "one per element of row_col_id");
}

Status check_lengths(const FormatView& view) {
  if (Status s = check_shape(view, std::numeric_limits<std::uint32_t>::max()); !s) return s;
  if (Status s = check_tile_lengths(view); !s) return s;
  return check_row_lengths(view);
}

Status check_row_columns(const FormatView& view, const HcWindowView& a, std::size_t i) {
  std::int64_t previous = -1;
  for (std::int64_t k = a.row_offset[i]; k < a.row_offset[i + 1]; ++k) {
    const std::int32_t column = a.row_col_id[static_cast<std::size_t>(k)];
    if (column <= previous || column >= view.cols)
      return broken_column(view, A::row_col_id, k, column, previous, a.row_id[i]);
    previous = column;
  }
  return {};
}

Status check_row(const FormatView& view, const HcWindowView& a, std::size_t i) {
  const auto index = static_cast<std::int64_t>(i);
  const std::int64_t row = a.row_id[i], previous = i > 0 ? std::max(a.row_id[i - 1], -1) : -1;
  if (row <= previous || row >= view.rows)
    return broken_element(
        view, A::row_id, index, row,
        std::to_string(previous + 1) + " to " + std::to_string(view.rows - 1) + " (rows ascend)");
  const auto window = static_cast<std::size_t>(row / kWindowRows);
  if (a.row_window_offset[window] != a.row_window_offset[window + 1])
    return broken_element(
        view, A::row_id, index, row,
        "a row of a window without tiles, but window " + std::to_string(window) + " is not");
  if (a.row_offset[i] == a.row_offset[i + 1])
    return broken_element(
        view, A::row_offset, index + 1, a.row_offset[i + 1],
        "at least " + std::to_string(a.row_offset[i] + 1) + " (rows in row_id are not empty)");
  return check_row_columns(view, a, i);
}

Status check_contents(const FormatView& view, int threads) {
  const HcWindowView a = as_hc_window(view);
  const std::int64_t in_rows = entries_in_rows(view);
  if (Status s = check_tile_offsets(view, A::row_window_offset, A::tc_offset, view.nnz - in_rows, threads);
      !s)
    return s;
  if (Status s = check_offsets(view, A::row_offset, a.row_offset, in_rows, threads); !s) return s;
  if (Status s = check_masked_tiles(view, {A::row_window_offset, A::tc_offset, A::bitmap, A::col_id, 2}, {},
                                    threads);
      !s)
    return s;
  return check_each(std::ssize(a.row_id), threads,
                    [&](std::int64_t i) { return check_row(view, a, static_cast<std::size_t>(i)); });
}

Blocks blocks(const FormatView& view) {
  Blocks blocks;
  blocks.placement = WindowPlacement::regular;
  blocks.window_rows = kWindowRows;
  blocks.tile_offset = view.array(A::row_window_offset).as<std::int32_t>();
  blocks.columns = view.array(A::col_id).as<std::int32_t>();
  blocks.tile_value = view.array(A::tc_offset).as<std::uint32_t>();
  blocks.masks = static_cast<const std::byte*>(view.array(A::bitmap).data);
  blocks.mask_bytes = 16;
  blocks.rows = {.ids = view.array(A::row_id).as<std::int32_t>(),
                 .offset = view.array(A::row_offset).as<std::int64_t>(),
                 .class_offset = {},
                 .columns = view.array(A::row_col_id).as<std::int32_t>()};
  return blocks;
}

}  // namespace

constexpr FormatLayout kHcWindowLayout = {
    .name = "hc_window",
    .summary = "windows of 16 rows, each in 16x8 tiles or in rows (HyGNN)",
    .group = "/formats/hc_window",
    .window_rows = kWindowRows,
    .tile_rows = kWindowRows,
    .tile_cols = 8,
    .arrays = kArrays,
    .check_lengths = check_lengths,
    .check_contents = check_contents,
    .tc_blocks = tc_blocks,
    .blocks = blocks,
    .parameter = &kSelector};

HcWindowView as_hc_window(const FormatView& view) { return typed_view<HcWindowView, 9>(view); }

}  // namespace sptile::formats
