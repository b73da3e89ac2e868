// Shared checks of layouts: messages, offsets and the columns of a window.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "formats/layout/format_layout.hpp"

namespace sptile::formats {

inline constexpr std::int64_t kMaxId = std::numeric_limits<std::int32_t>::max();  ///< maximum number of rows,
                                                                                  ///< columns and tiles

/// Returns an error that names format, array and index: "bittcf: tc_offset[17] = 40, expected at least 41
/// (offsets never decrease)".
[[nodiscard]] tl::unexpected<Error> broken_element(const FormatView& view, ArrayIndex array,
                                                   std::int64_t index, std::int64_t found,
                                                   const std::string& expected);

/// Works like broken_element, for masks in hexadecimal.
[[nodiscard]] tl::unexpected<Error> broken_mask(const FormatView& view, ArrayIndex array, std::int64_t index,
                                                std::uint64_t found, const std::string& expected);

/// Fails for an array of another length: "tall: bitmap has 3 elements, expected 2".
[[nodiscard]] tl::unexpected<Error> broken_length(const FormatView& view, ArrayIndex array,
                                                  const std::string& expected);

/// Fails for entry number `index`, whose column does not ascend after `previous` in `row` or does not exist.
[[nodiscard]] tl::unexpected<Error> broken_column(const FormatView& view, ArrayIndex array,
                                                  std::int64_t index, std::int64_t column,
                                                  std::int64_t previous, std::int64_t row);

/// Verifies rows and columns (0 to 2^31 - 1), nonzeros (0 to max_nnz) and the types of all arrays. First step
/// of every check_lengths.
Status check_shape(const FormatView& view, std::int64_t max_nnz = std::numeric_limits<std::int64_t>::max());

/// Verifies that an array has `expected` elements; `why` explains that number. Accepts the absent value
/// arrays of a pattern matrix.
Status check_length(const FormatView& view, ArrayIndex array, std::int64_t expected, const char* why);

/// Verifies that the size of an array of 8 columns per tile is a multiple of 8 and at most 8 * (2^31 - 1).
Status check_whole_tiles(const FormatView& view, ArrayIndex array);

/// Calls check(first, last) for ranges of [0, count), with `threads` threads, and returns the error of the
/// first failing range. If check visits its range in order and independently of other ranges, the error is
/// the one that a single thread would find.
template <class F>
Status check_ranges(std::int64_t count, int threads, const F& check) {
  constexpr std::int64_t kMin = 1024, kPerThread = 8;
  const std::int64_t ranges = std::min(count / kMin, threads * kPerThread);
  if (threads <= 1 || ranges <= 1) return check(std::int64_t{0}, count);
  std::vector<Status> results(static_cast<std::size_t>(ranges));
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
  for (std::int64_t i = 0; i < ranges; ++i)
    results[static_cast<std::size_t>(i)] = check(count * i / ranges, count * (i + 1) / ranges);
  for (Status& status : results)
    if (!status) return std::move(status);
  return {};
}

/// Calls check(i) for each i in [0, count), like check_ranges.
template <class F>
Status check_each(std::int64_t count, int threads, const F& check) {
  return check_ranges(count, threads, [&](std::int64_t first, std::int64_t last) -> Status {
    for (std::int64_t i = first; i < last; ++i)
      if (Status s = check(i); !s) return s;
    return {};
  });
}

/// Returns whether each offset is at least the previous one. Branch-free, so that memory bandwidth is the
/// limit.
template <class T>
bool never_decrease(std::span<const T> offsets) {
  unsigned smaller = 0;
  for (std::size_t i = 1; i < offsets.size(); ++i) smaller |= offsets[i] < offsets[i - 1] ? 1U : 0U;
  return smaller == 0;
}

/// Verifies that offsets start with 0, never decrease, and end with `end`.
template <class T>
Status check_offsets(const FormatView& view, ArrayIndex array, std::span<const T> offsets, std::int64_t end,
                     int threads) {
  const auto at = [&](std::int64_t i) {
    return static_cast<std::int64_t>(offsets[static_cast<std::size_t>(i)]);
  };
  const auto last = static_cast<std::int64_t>(offsets.size()) - 1;
  if (at(0) != 0) return broken_element(view, array, 0, at(0), "0 (offsets start at 0)");
  Status status = check_ranges(last, threads, [&](std::int64_t first, std::int64_t past) -> Status {
    const auto range =
        offsets.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(past - first) + 1);
    if (never_decrease(range)) return {};
    const std::int64_t i = first + (std::ranges::is_sorted_until(range) - range.begin());
    return broken_element(view, array, i, at(i),
                          "at least " + std::to_string(at(i - 1)) + " (offsets never decrease)");
  });
  if (!status) return status;
  if (at(last) != end) return broken_element(view, array, last, at(last), std::to_string(end));
  return {};
}

/// Returns the number of rows of a window inside the matrix: min(height, rows - first_row).
inline int rows_in_window(const FormatView& view, std::int64_t first_row, int height) {
  return static_cast<int>(view.rows - first_row < height ? view.rows - first_row : height);
}

/// Reduces a tile mask (bit 8 * row + column) to the mask of its nonempty columns.
inline unsigned used_columns(std::uint64_t mask) {
  mask |= mask >> 32;
  mask |= mask >> 16;
  mask |= mask >> 8;
  return static_cast<unsigned>(mask & 0xFF);
}

/// Verifies that a tile mask (bit 8 * row + column) has no bits at or above row `rows`.
Status check_rows_exist(const FormatView& view, ArrayIndex array, std::int64_t tile, std::uint64_t mask,
                        int rows);

/// Order of the columns of a window.
struct ColumnOrder {
  bool ascending = true;  ///< otherwise any order, and the caller checks that columns are distinct
  int block_tiles = 1;    ///< windows consist of whole blocks of this number of tiles
};

/// Verifies the columns of one window, tile by tile: nonempty columns are in range and strictly ascending;
/// empty ones are only at the end of the last block and repeat the last nonempty column.
class WindowColumnsCheck {
 public:
  WindowColumnsCheck(const FormatView& view, ArrayIndex array, std::span<const std::int32_t> columns,
                     ColumnOrder order = {})
      : view_(view), array_(array), columns_(columns), order_(order) {}

  void begin_window() {
    previous_ = -1;
    padding_ = false;
  }

  /// Checks the 8 columns of `tile`; bit c of `used` is set if column c is nonempty.
  Status next(std::int64_t tile, unsigned used, bool last_block_of_window);

 private:
  [[nodiscard]] Status locate(std::int64_t tile, unsigned used, bool last_block_of_window) const;
  [[nodiscard]] bool starts_block(std::int64_t tile) const { return tile % order_.block_tiles == 0; }

  const FormatView& view_;
  ArrayIndex array_;
  std::span<const std::int32_t> columns_;
  ColumnOrder order_;
  std::int32_t previous_ = -1;
  bool padding_ = false;  ///< an empty column was found
};

/// Calls check_window(w, columns) for each window with `threads` threads; `columns` is a copy per thread.
template <class F>
Status check_windows(const WindowColumnsCheck& columns, std::int64_t windows, int threads,
                     const F& check_window) {
  return check_ranges(windows, threads, [&](std::int64_t first, std::int64_t last) -> Status {
    WindowColumnsCheck own = columns;
    for (std::int64_t w = first; w < last; ++w)
      if (Status s = check_window(static_cast<std::size_t>(w), own); !s) return s;
    return {};
  });
}

/// Verifies the offsets of tiles in windows and of entries (`values` of them) in tiles.
Status check_tile_offsets(const FormatView& view, ArrayIndex window_tile, ArrayIndex tile_value,
                          std::int64_t values, int threads);

/// Verifies the tiles of regular windows of `height` rows. check_tile(tile, rows, used) verifies the contents
/// of a tile of a window with `rows` rows and sets the mask of the columns that hold entries.
template <class F>
Status check_regular_windows(const FormatView& view, ArrayIndex window_tile, ArrayIndex columns,
                             ColumnOrder order, int height, int threads, const F& check_tile) {
  const auto offset = view.array(window_tile).as<std::int32_t>();
  const auto check_window = [&](std::size_t w, WindowColumnsCheck& check) -> Status {
    const int rows = rows_in_window(view, static_cast<std::int64_t>(w) * height, height);
    const std::int64_t end = offset[w + 1];
    if (end % order.block_tiles != 0)
      return broken_element(view, window_tile, static_cast<std::int64_t>(w + 1), end,
                            "an even number (a block is two tiles)");
    check.begin_window();
    for (std::int64_t t = offset[w]; t < end; ++t) {
      unsigned used = 0;
      if (Status s = check_tile(t, rows, used); !s) return s;
      if (Status s = check.next(t, used, t + order.block_tiles >= end); !s) return s;
    }
    return {};
  };
  return check_windows({view, columns, view.array(columns).as<std::int32_t>(), order}, std::ssize(offset) - 1,
                       threads, check_window);
}

/// Roles of the arrays of tiles with masks of 8 x 8 bits in regular windows.
struct MaskedTiles {
  ArrayIndex window_tile;  ///< first tile of each window
  ArrayIndex tile_value;   ///< first entry of each tile
  ArrayIndex masks;        ///< `mask_words` per tile, from top to bottom
  ArrayIndex columns;      ///< 8 per tile
  int mask_words = 1;
};

/// Verifies masks and columns; the offsets must be valid.
Status check_masked_tiles(const FormatView& view, const MaskedTiles& tiles, ColumnOrder order, int threads);

/// One array, converted to the type of a member of a typed view.
struct TypedArray {
  const ArrayView& array;

  template <class T>
  operator std::span<const T>() const {  // NOLINT(google-explicit-constructor)
    return array.as<T>();
  }
  operator ArrayView() const { return array; }  // NOLINT(google-explicit-constructor)
};

/// Typed view of a format: sizes, then all arrays in the order of the layout.
template <class View, std::size_t... kArray>
View typed_view(const FormatView& view, std::index_sequence<kArray...> /*arrays*/) {
  return {view.rows, view.cols, view.nnz, TypedArray{view.arrays[kArray]}...};
}
template <class View, std::size_t kArrays>
View typed_view(const FormatView& view) {
  return typed_view<View>(view, std::make_index_sequence<kArrays>());
}

}  // namespace sptile::formats
