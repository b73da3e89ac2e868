#include "formats/layout/invariants.hpp"

#include <algorithm>
#include <bit>

namespace sptile::formats {
namespace {

std::string array_name(const FormatView& view, ArrayIndex array) {
  return std::string(view.layout->name) + ": " + std::string(view.layout->arrays[array.value].name);
}

tl::unexpected<Error> broken(const FormatView& view, ArrayIndex array, std::int64_t index,
                             const std::string& found, const std::string& expected) {
  return fail(Errc::bad_input, array_name(view, array) + "[" + std::to_string(index) + "] = " + found +
                                   ", expected " + expected);
}

std::string hexadecimal(std::uint64_t value) {
  std::string text;
  for (; value != 0 || text.empty(); value >>= 4) text.insert(text.begin(), "0123456789abcdef"[value & 15]);
  return "0x" + text;
}

}  // namespace

tl::unexpected<Error> broken_element(const FormatView& view, ArrayIndex array, std::int64_t index,
                                     std::int64_t found, const std::string& expected) {
  return broken(view, array, index, std::to_string(found), expected);
}

tl::unexpected<Error> broken_mask(const FormatView& view, ArrayIndex array, std::int64_t index,
                                  std::uint64_t found, const std::string& expected) {
  return broken(view, array, index, hexadecimal(found), expected);
}

tl::unexpected<Error> broken_length(const FormatView& view, ArrayIndex array, const std::string& expected) {
  return fail(Errc::bad_input, array_name(view, array) + " has " + std::to_string(view.array(array).size) +
                                   " elements, expected " + expected);
}

tl::unexpected<Error> broken_column(const FormatView& view, ArrayIndex array, std::int64_t index,
                                    std::int64_t column, std::int64_t previous, std::int64_t row) {
  return broken_element(view, array, index, column,
                        std::to_string(previous + 1) + " to " + std::to_string(view.cols - 1) + " (row " +
                            std::to_string(row) + "; columns of a row ascend)");
}

Status check_shape(const FormatView& view, std::int64_t max_nnz) {
  const auto in_range = [&](const char* what, std::int64_t value, std::int64_t max) -> Status {
    if (value >= 0 && value <= max) return {};
    return fail(Errc::bad_input, std::string(view.layout->name) + ": " + std::to_string(value) + " " + what +
                                     ", expected 0 to " + std::to_string(max));
  };
  if (Status s = in_range("rows", view.rows, kMaxId); !s) return s;
  if (Status s = in_range("columns", view.cols, kMaxId); !s) return s;
  if (Status s = in_range("entries", view.nnz, max_nnz); !s) return s;
  return check_array_types(view);
}

Status check_length(const FormatView& view, ArrayIndex array, std::int64_t expected, const char* why) {
  const ArrayView& found = view.array(array);
  if (!found.present() || found.size == expected) return {};
  return broken_length(view, array, std::to_string(expected) + " (" + why + ")");
}

Status check_whole_tiles(const FormatView& view, ArrayIndex array) {
  const std::int64_t size = view.array(array).size;
  if (size % 8 == 0 && size / 8 <= kMaxId) return {};
  return broken_length(view, array, "8 for each of at most 2147483647 tiles");
}

Status check_rows_exist(const FormatView& view, ArrayIndex array, std::int64_t tile, std::uint64_t mask,
                        int rows) {
  if (rows >= 8 || mask >> (8 * rows) == 0) return {};
  return broken_mask(view, array, tile, mask, "no bits in rows past the end of the matrix");
}

Status WindowColumnsCheck::next(std::int64_t tile, unsigned used, bool last_block_of_window) {
  const std::int32_t* ids = columns_.data() + 8 * tile;
  const unsigned real = static_cast<unsigned>(std::countr_one(used));
  bool good = used == (1u << real) - 1 && (real == 8 || last_block_of_window) &&
              (real == 0 ? !starts_block(tile) : !padding_);
  std::int32_t previous = previous_, largest = -1;
  for (unsigned c = 0; c < real; ++c) {
    good &= ids[c] > (order_.ascending ? previous : -1);
    previous = ids[c];
    largest = std::max(largest, previous);
  }
  for (unsigned c = real; c < 8; ++c) good &= ids[c] == previous;
  if (!good || largest >= view_.cols) return locate(tile, used, last_block_of_window);
  previous_ = previous;
  padding_ |= real < 8;
  return {};
}

// Finds the first invalid column after a check failed.
Status WindowColumnsCheck::locate(std::int64_t tile, unsigned used, bool last_block_of_window) const {
  const std::string unit = order_.block_tiles == 1 ? "tile" : "block";
  std::int32_t previous = previous_;
  bool padding = padding_;
  for (unsigned c = 0; c < 8; ++c) {
    const std::int64_t i = 8 * tile + c;
    const std::int32_t id = columns_[static_cast<std::size_t>(i)];
    const std::string place = "column " + std::to_string(c) + " of tile " + std::to_string(tile);
    if (id < 0 || id >= view_.cols)
      return broken_element(view_, array_, i, id, "0 to " + std::to_string(view_.cols - 1));
    if ((used >> c & 1) != 0) {
      if (padding)
        return broken_element(view_, array_, i, id,
                              place + " to have no entries, like the preceding padding");
      if (order_.ascending && id <= previous)
        return broken_element(view_, array_, i, id,
                              "more than " + std::to_string(previous) + " (the columns of a window ascend)");
      previous = id;
      continue;
    }
    padding = true;
    if (!last_block_of_window)
      return broken_element(view_, array_, i, id,
                            place + " to have an entry (only the last " + unit + " of a window is padded)");
    if (c == 0 && starts_block(tile))
      return broken_element(view_, array_, i, id, place + " to have an entry (no " + unit + " is empty)");
    if (id != previous)
      return broken_element(view_, array_, i, id,
                            std::to_string(previous) + " (padding repeats the last real column)");
  }
  return {};
}

Status check_tile_offsets(const FormatView& view, ArrayIndex window_tile, ArrayIndex tile_value,
                          std::int64_t values, int threads) {
  if (Status s = check_offsets(view, window_tile, view.array(window_tile).as<std::int32_t>(),
                               view.layout->tc_blocks(view), threads);
      !s)
    return s;
  return check_offsets(view, tile_value, view.array(tile_value).as<std::uint32_t>(), values, threads);
}

namespace {

/// Verifies the masks of tiles of kWords x 8 rows.
template <int kWords>
Status check_masks(const FormatView& view, const MaskedTiles& tiles, ColumnOrder order, int threads) {
  const auto masks = view.array(tiles.masks).as<std::uint64_t>();
  const auto offset = view.array(tiles.tile_value).as<std::uint32_t>();
  const auto check_tile = [&](std::int64_t tile, int rows, unsigned& used) -> Status {
    const auto t = static_cast<std::size_t>(tile);
    const std::int64_t entries = std::int64_t{offset[t + 1]} - std::int64_t{offset[t]};
    const std::uint64_t* const mask = masks.data() + kWords * tile;
    int bits = 0;
    std::uint64_t all = 0;
    for (int w = 0; w < kWords; ++w) bits += std::popcount(mask[w]), all |= mask[w];
    if (bits != entries)
      return broken_mask(view, tiles.masks, kWords * tile, mask[0],
                         std::to_string(entries) + " bits" +
                             (kWords == 1 ? "" : " in this and the next mask") + ", the count from " +
                             std::string(view.layout->arrays[tiles.tile_value.value].name));
    used = used_columns(all);
    for (int w = 0; w < kWords; ++w)
      if (Status s =
              check_rows_exist(view, tiles.masks, kWords * tile + w, mask[w], std::max(rows - 8 * w, 0));
          !s)
        return s;
    return {};
  };
  return check_regular_windows(view, tiles.window_tile, tiles.columns, order, 8 * kWords, threads,
                               check_tile);
}

}  // namespace

Status check_masked_tiles(const FormatView& view, const MaskedTiles& tiles, ColumnOrder order, int threads) {
  return tiles.mask_words == 1 ? check_masks<1>(view, tiles, order, threads)
                               : check_masks<2>(view, tiles, order, threads);
}

}  // namespace sptile::formats
