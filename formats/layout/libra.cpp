#include "formats/layout/libra_format.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "formats/layout/invariants.hpp"

namespace sptile::formats {
namespace {

using A = LibraArray;
constexpr int kWindowRows = kLibraWindowRows;

Status check_tc_lengths(const FormatView& view) {
  const std::int64_t windows = (view.rows + kWindowRows - 1) / kWindowRows;
  if (Status s = check_length(view, A::row_window_offset, windows + 1, "windows of 8 rows, + 1"); !s)
    return s;
  if (Status s = check_whole_tiles(view, A::col_id); !s) return s;
  const std::int64_t tiles = view.array(A::col_id).size / 8;
  if (Status s = check_length(view, A::tc_offset, tiles + 1, "tiles + 1"); !s) return s;
  return check_length(view, A::bitmap, tiles, "one per 8 columns of col_id");
}

std::int64_t windows_of(const LibraView& a) { return std::ssize(a.row_window_offset) - 1; }

/// Returns the columns of a window's tiles in ascending order.
class AscendingColumns {
 public:
  AscendingColumns(const LibraView& a, ColumnOrder order) : a_(a), order_(order) {}

  /// Valid until the next call. Ascending formats keep the repeated padding at the end. For others, padding
  /// is removed and the columns are sorted, once per window if calls visit windows in ascending order.
  std::span<const std::int32_t> of_window(std::int64_t window) {
    const std::int64_t first = a_.row_window_offset[static_cast<std::size_t>(window)],
                       end = a_.row_window_offset[static_cast<std::size_t>(window + 1)];
    const auto stored =
        a_.col_id.subspan(8 * static_cast<std::size_t>(first), 8 * static_cast<std::size_t>(end - first));
    if (order_.ascending) return stored;
    if (window != window_) {
      std::size_t real = stored.size();
      for (std::int64_t t = end - 1; t >= first && t >= end - order_.block_tiles; --t)
        real -=
            8 - static_cast<std::size_t>(std::popcount(used_columns(a_.bitmap[static_cast<std::size_t>(t)])));
      sorted_.assign(stored.begin(), stored.begin() + static_cast<std::ptrdiff_t>(real));
      std::sort(sorted_.begin(), sorted_.end());
      window_ = window;
    }
    return sorted_;
  }

 private:
  const LibraView& a_;
  ColumnOrder order_;
  std::int64_t window_ = -1;
  std::vector<std::int32_t> sorted_;
};

/// Checks that the columns of a window are distinct; requires valid tiles.
Status check_distinct_columns(const FormatView& view, const LibraView& a, AscendingColumns& columns,
                              std::int64_t w) {
  const auto sorted = columns.of_window(w);
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice == sorted.end()) return {};
  const auto window = a.col_id.begin() + 8 * a.row_window_offset[static_cast<std::size_t>(w)];
  const auto again = std::find(std::find(window, a.col_id.end(), *twice) + 1, a.col_id.end(), *twice);
  return broken_element(view, A::col_id, again - a.col_id.begin(), *twice,
                        "a column that window " + std::to_string(w) + " does not have yet");
}

/// Checks the columns of residual row number i; requires valid tiles.
Status check_residual_columns(const FormatView& view, const LibraView& a, AscendingColumns& columns,
                              std::size_t i) {
  const std::int64_t row = a.residual_row_id[i];
  const std::span<const std::int32_t> tiles = columns.of_window(row / kWindowRows);
  std::int64_t previous = -1;
  for (std::int64_t k = a.residual_row_offset[i]; k < a.residual_row_offset[i + 1]; ++k) {
    const std::int32_t column = a.residual_col_id[static_cast<std::size_t>(k)];
    if (column <= previous || column >= view.cols)
      return broken_column(view, A::residual_col_id, k, column, previous, row);
    if (std::binary_search(tiles.begin(), tiles.end(), column))
      return broken_element(
          view, A::residual_col_id, k, column,
          "a column that is not in the tiles of window " + std::to_string(row / kWindowRows));
    previous = column;
  }
  return {};
}

Status check_residual_row(const FormatView& view, const LibraView& a, AscendingColumns& columns,
                          std::size_t i) {
  const std::int64_t row = a.residual_row_id[i],
                     previous = i > 0 ? std::max(a.residual_row_id[i - 1], -1) : -1;
  if (row <= previous || row >= view.rows)
    return broken_element(
        view, A::residual_row_id, static_cast<std::int64_t>(i), row,
        std::to_string(previous + 1) + " to " + std::to_string(view.rows - 1) + " (residual rows ascend)");
  if (a.residual_row_offset[i] == a.residual_row_offset[i + 1])
    return broken_element(
        view, A::residual_row_offset, static_cast<std::int64_t>(i + 1), a.residual_row_offset[i + 1],
        "at least " + std::to_string(a.residual_row_offset[i] + 1) + " (residual rows are not empty)");
  return check_residual_columns(view, a, columns, i);
}

/// Calls check(columns, i) for each i in [0, count).
template <class F>
Status check_with_columns(const LibraView& a, ColumnOrder order, std::int64_t count, int threads,
                          const F& check) {
  return check_ranges(count, threads, [&](std::int64_t first, std::int64_t last) -> Status {
    AscendingColumns columns(a, order);
    for (std::int64_t i = first; i < last; ++i)
      if (Status s = check(columns, i); !s) return s;
    return {};
  });
}

}  // namespace

Status check_libra_lengths(const FormatView& view) {
  if (Status s = check_shape(view, std::numeric_limits<std::uint32_t>::max()); !s) return s;
  if (Status s = check_tc_lengths(view); !s) return s;
  const std::int64_t rows = view.array(A::residual_row_id).size,
                     residual = view.array(A::residual_col_id).size;
  if (residual > view.nnz)
    return broken_length(view, A::residual_col_id,
                         "at most the " + std::to_string(view.nnz) + " entries of the matrix");
  if (rows > view.rows)
    return broken_length(view, A::residual_row_id, "at most " + std::to_string(view.rows) + " (rows)");
  if (Status s = check_length(view, A::residual_row_offset, rows + 1, "one per residual row, + 1"); !s)
    return s;
  if (Status s = check_length(view, A::values, view.nnz - residual, "entries outside the residual part"); !s)
    return s;
  return check_length(view, A::residual_values, residual, "one per entry of the residual part");
}

Status check_libra_contents(const FormatView& view, ColumnOrder order, int threads) {
  const LibraView a = as_libra(view);
  const std::int64_t residual = std::ssize(a.residual_col_id);
  if (Status s = check_tile_offsets(view, A::row_window_offset, A::tc_offset, view.nnz - residual, threads);
      !s)
    return s;
  if (Status s = check_offsets(view, A::residual_row_offset, a.residual_row_offset, residual, threads); !s)
    return s;
  if (Status s = check_masked_tiles(view, {A::row_window_offset, A::tc_offset, A::bitmap, A::col_id}, order,
                                    threads);
      !s)
    return s;
  const auto distinct = [&](AscendingColumns& columns, std::int64_t w) {
    return check_distinct_columns(view, a, columns, w);
  };
  if (!order.ascending)
    if (Status s = check_with_columns(a, order, windows_of(a), threads, distinct); !s) return s;
  return check_with_columns(a, order, std::ssize(a.residual_row_id), threads,
                            [&](AscendingColumns& columns, std::int64_t i) {
                              return check_residual_row(view, a, columns, static_cast<std::size_t>(i));
                            });
}

std::int64_t libra_tc_blocks(const FormatView& view) { return view.array(A::bitmap).size; }

Blocks libra_blocks(const FormatView& view) {
  Blocks blocks;
  blocks.placement = WindowPlacement::regular;
  blocks.window_rows = kWindowRows;
  blocks.tile_offset = view.array(A::row_window_offset).as<std::int32_t>();
  blocks.columns = view.array(A::col_id).as<std::int32_t>();
  blocks.tile_value = view.array(A::tc_offset).as<std::uint32_t>();
  blocks.masks = static_cast<const std::byte*>(view.array(A::bitmap).data);
  blocks.mask_bytes = 8;
  blocks.rows = {.ids = view.array(A::residual_row_id).as<std::int32_t>(),
                 .offset = view.array(A::residual_row_offset).as<std::int64_t>(),
                 .class_offset = {},
                 .columns = view.array(A::residual_col_id).as<std::int32_t>()};
  return blocks;
}

LibraView as_libra(const FormatView& view) { return typed_view<LibraView, 9>(view); }

}  // namespace sptile::formats
