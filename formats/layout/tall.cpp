#include "formats/layout/tall.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "formats/layout/blocks.hpp"
#include "formats/layout/invariants.hpp"
#include "formats/layout/tall_rules.hpp"

namespace sptile::formats {
namespace {

using A = TallArray;
constexpr ArraySpec kArrays[] = {{"window_row", DType::i32},          {"window_group_offset", DType::i32},
                                 {"group_mask", DType::u32},          {"group_tile_offset", DType::i32},
                                 {"col_id", DType::i32, false, true}, {"bitmap", DType::u64},
                                 {"value_offset", DType::u32},        {"values", DType::none, true}};

std::int64_t tc_blocks(const FormatView& view) { return view.array(A::bitmap).size; }

Status check_lengths(const FormatView& view) {
  if (Status s = check_shape(view, std::numeric_limits<std::uint32_t>::max()); !s) return s;
  const std::int64_t starts = view.array(A::window_row).size;
  const std::int64_t min = (view.rows + kTallMaxRows - 1) / kTallMaxRows, max = (view.rows + 7) / 8;
  if (starts < min + 1 || starts > max + 1)
    return broken_length(
        view, A::window_row,
        std::to_string(min + 1) + " to " + std::to_string(max + 1) + " (windows of 8 to 128 rows, + 1)");
  if (Status s = check_length(view, A::window_group_offset, starts, "windows + 1"); !s) return s;
  if (Status s = check_whole_tiles(view, A::col_id); !s) return s;
  const std::int64_t groups = view.array(A::col_id).size / 8;
  if (Status s = check_length(view, A::group_mask, groups, "one per 8 columns of col_id"); !s) return s;
  if (Status s = check_length(view, A::group_tile_offset, groups + 1, "groups + 1"); !s) return s;
  const std::int64_t tiles = view.array(A::bitmap).size;
  if (tiles > kMaxId) return broken_length(view, A::bitmap, "at most 2147483647");
  if (Status s = check_length(view, A::value_offset, tiles + 1, "tiles + 1"); !s) return s;
  return check_length(view, A::values, view.nnz, "one per entry");
}

Status check_window_rows(const FormatView& view, const TallView& a) {
  const auto last = static_cast<std::int64_t>(a.window_row.size()) - 1;
  std::int64_t previous = 0;
  for (std::int64_t w = 0; w <= last; ++w) {
    const std::int64_t row = a.window_row[static_cast<std::size_t>(w)];
    if (w == last) {
      if (row != view.rows)
        return broken_element(view, A::window_row, w, row,
                              std::to_string(view.rows) + " (the number of rows)");
    } else if (row % 8 != 0 || row < 0) {
      return broken_element(view, A::window_row, w, row, "a multiple of 8");
    }
    if (w == 0 && row != 0) return broken_element(view, A::window_row, w, row, "0");
    if (w > 0 && (row <= previous || row > previous + kTallMaxRows))
      return broken_element(view, A::window_row, w, row,
                            std::to_string(previous + 1) + " to " + std::to_string(previous + kTallMaxRows) +
                                " (windows of at most 128 rows)");
    previous = row;
  }
  return {};
}

/// Checks windows one at a time; its workspace grows to the longest window.
class WindowCheck {
 public:
  explicit WindowCheck(const FormatView& view) : view_(view), a_(as_tall(view)) {}

  Status run(std::int64_t window) {
    const auto w = static_cast<std::size_t>(window);
    first_ = a_.window_group_offset[w];
    groups_ = a_.window_group_offset[w + 1] - first_;
    rows_ = a_.window_row[w + 1] - a_.window_row[w];
    uses_.resize(static_cast<std::size_t>(groups_));
    place_of_.resize(static_cast<std::size_t>(groups_));
    BitReversedOrder order(groups_);
    for (std::int64_t g = 0; g < groups_; ++g) {
      if (Status s = check_tiles(first_ + g, uses_[static_cast<std::size_t>(g)]); !s) return s;
      place_of_[static_cast<std::size_t>(order.next())] = g;
    }
    if (Status s = check_order(); !s) return s;
    return check_distinct();
  }

 private:
  using Uses = std::array<std::uint16_t, 8>;  ///< sub-windows in which each column of a group is nonempty

  Status check_tiles(std::int64_t group, Uses& uses) {
    const auto g = static_cast<std::size_t>(group);
    const std::uint32_t mask = a_.group_mask[g];
    const std::int64_t first = a_.group_tile_offset[g], tiles = a_.group_tile_offset[g + 1] - first;
    if (mask == 0 || mask >> ((rows_ + 7) / 8) != 0)
      return broken_mask(view_, A::group_mask, group, mask,
                         "bits of the " + std::to_string((rows_ + 7) / 8) + " sub-windows only, and some");
    if (std::popcount(mask) != tiles)
      return broken_mask(view_, A::group_mask, group, mask,
                         std::to_string(tiles) + " bits, the count from group_tile_offset");
    uses.fill(0);
    std::int64_t tile = first;
    for (int s = 0; s < kTallMaxSubWindows; ++s) {
      if ((mask >> s & 1) == 0) continue;
      if (Status status = check_tile(tile, rows_ - 8 * s); !status) return status;
      const unsigned used = used_columns(a_.bitmap[static_cast<std::size_t>(tile++)]);
      for (std::size_t c = 0; c < 8; ++c)
        uses[c] = static_cast<std::uint16_t>(uses[c] | (used >> c & 1) << s);
    }
    return {};
  }

  Status check_tile(std::int64_t tile, int rows) {
    const auto t = static_cast<std::size_t>(tile);
    const std::uint64_t bits = a_.bitmap[t];
    const std::int64_t entries = std::int64_t{a_.value_offset[t + 1]} - std::int64_t{a_.value_offset[t]};
    if (bits == 0) return broken_mask(view_, A::bitmap, tile, bits, "some bits (empty tiles are not stored)");
    if (std::popcount(bits) != entries)
      return broken_mask(view_, A::bitmap, tile, bits,
                         std::to_string(entries) + " bits, the count from value_offset");
    return check_rows_exist(view_, A::bitmap, tile, bits, rows);
  }

  /// Checks that the sorted columns ascend by (sub-windows, column) and that padding is only at the end.
  Status check_order() {
    columns_.clear();
    std::uint64_t previous = 0;
    for (std::size_t i = 0; i < place_of_.size(); ++i) {
      const Uses& uses = uses_[static_cast<std::size_t>(place_of_[i])];
      const std::int64_t start = 8 * (first_ + place_of_[i]);
      for (int c = 0; c < 8; ++c) {
        const std::int64_t at = start + c;
        const std::int32_t column = a_.col_id[static_cast<std::size_t>(at)];
        if (column < 0 || column >= view_.cols)
          return broken_element(view_, A::col_id, at, column, "0 to " + std::to_string(view_.cols - 1));
        const std::uint64_t key =
            std::uint64_t{uses[static_cast<std::size_t>(c)]} << 32 | static_cast<std::uint32_t>(column);
        if (key >> 32 == 0) {
          const std::int32_t real = static_cast<std::int32_t>(previous & 0xFFFFFFFF);
          if (c == 0 || i + 1 < place_of_.size())
            return broken_element(view_, A::col_id, at, column,
                                  "a column with an entry (only the last of the sorted groups is padded)");
          if (column != real)
            return broken_element(view_, A::col_id, at, column,
                                  std::to_string(real) + " (padding repeats the last real column)");
          continue;
        }
        if (key <= previous || (c > 0 && uses[static_cast<std::size_t>(c - 1)] == 0))
          return broken_element(view_, A::col_id, at, column,
                                "columns sorted by the sub-windows that use them, then by number");
        previous = key;
        columns_.push_back(column);
      }
    }
    return {};
  }

  Status check_distinct() {
    std::sort(columns_.begin(), columns_.end());
    const auto twice = std::adjacent_find(columns_.begin(), columns_.end());
    if (twice == columns_.end()) return {};
    std::int64_t at = 8 * first_;  // second position of the column
    for (int found = 0; found < 2; ++at) found += a_.col_id[static_cast<std::size_t>(at)] == *twice;
    return broken_element(view_, A::col_id, at - 1, *twice, "a column that the window does not have yet");
  }

  const FormatView& view_;
  const TallView a_;
  std::int64_t first_ = 0, groups_ = 0;
  int rows_ = 0;
  std::vector<Uses> uses_;
  std::vector<std::int64_t> place_of_;  ///< place of each sorted group
  std::vector<std::int32_t> columns_;
};

Status check_contents(const FormatView& view, int threads) {
  const TallView a = as_tall(view);
  const auto groups = static_cast<std::int64_t>(a.group_mask.size());
  if (Status s = check_window_rows(view, a); !s) return s;
  if (Status s = check_offsets(view, A::window_group_offset, a.window_group_offset, groups, threads); !s)
    return s;
  if (Status s = check_offsets(view, A::group_tile_offset, a.group_tile_offset, tc_blocks(view), threads); !s)
    return s;
  if (Status s = check_offsets(view, A::value_offset, a.value_offset, view.nnz, threads); !s) return s;
  return check_ranges(a.windows(), threads, [&](std::int64_t first, std::int64_t last) -> Status {
    WindowCheck window(view);
    for (std::int64_t w = first; w < last; ++w)
      if (Status s = window.run(w); !s) return s;
    return {};
  });
}

Blocks blocks(const FormatView& view) {
  Blocks blocks;
  blocks.placement = WindowPlacement::varied;
  blocks.tile_offset = view.array(A::window_group_offset).as<std::int32_t>();
  blocks.first_row = view.array(A::window_row).as<std::int32_t>();
  blocks.columns = view.array(A::col_id).as<std::int32_t>();
  blocks.tile_value = view.array(A::value_offset).as<std::uint32_t>();
  blocks.group_tile = view.array(A::group_tile_offset).as<std::int32_t>();
  return blocks;
}

constexpr int kHeights[] = {tall_height(0), tall_height(1), tall_height(2), tall_height(3)};
static_assert(std::size(kHeights) == kTallLevels);
constexpr FormatParameter kHeight = {.name = "height",
                                     .summary = "rows per window",
                                     .unit = "rows",
                                     .min = kHeights[0],
                                     .max = kTallMaxRows,
                                     .values = kHeights};

}  // namespace

constexpr FormatLayout kTallLayout = {.name = "tall",
                                      .summary = "8x8 tiles, one column list per window of 16 to 128 rows",
                                      .group = "/formats/tall",
                                      .window_rows = 0,
                                      .usual_window_rows = tall_height(2),
                                      .tile_rows = 8,
                                      .tile_cols = 8,
                                      .ascending_columns = false,
                                      .arrays = kArrays,
                                      .check_lengths = check_lengths,
                                      .check_contents = check_contents,
                                      .tc_blocks = tc_blocks,
                                      .blocks = blocks,
                                      .parameter = &kHeight};

TallView as_tall(const FormatView& view) { return typed_view<TallView, 8>(view); }

}  // namespace sptile::formats
