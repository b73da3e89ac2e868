// Decoder of tall windows, one sub-window of 8 rows at a time: its tiles are those whose group has its bit
// set. Compiled once per instruction set.
#pragma once

#include "formats/layout/tall.hpp"
#include "runtime/cpu/tile_group.hpp"
#include "runtime/cpu/walk.hpp"

namespace sptile::runtime::SPTILE_ISA {

template <class V, class A>
class TallDecoder {
 public:
  using Acc = A;
  static constexpr int kRows = 8;

  explicit TallDecoder(const Task& task) : view_(formats::as_tall(task.format)) {
    values_.bind(view_.values);
  }

  /// Opens unit u, the rows from 8 u on. Units are opened in ascending order, which advances the window.
  void open(std::int64_t unit) {
    first_row_ = unit * kRows;
    rows_ = window_rows(first_row_, view_.rows, kRows);
    if (window_ < 0) window_ = window_of(first_row_);
    const std::int32_t* const starts = view_.window_row.data();
    while (starts[window_ + 1] <= first_row_) ++window_;
    sub_window_ = static_cast<int>((first_row_ - starts[window_]) / kRows);
    const std::int32_t* const offset = view_.window_group_offset.data() + window_;
    groups_ = {offset[0], offset[1]};
  }
  [[nodiscard]] int rows() const { return rows_; }
  [[nodiscard]] std::int64_t row_id(int r) const { return first_row_ + r; }
  [[nodiscard]] int groups() const { return groups_.groups(); }

  [[gnu::noinline]] void prepare(int g) {
    const TileRange range = groups_.group(g);
    const std::uint32_t bit = 1u << sub_window_;
    tiles_ = 0;
    for (std::int64_t group = range.first; group < range.last; ++group) {
      const std::uint32_t mask = view_.group_mask.data()[group];
      if ((mask & bit) == 0) continue;
      const std::int64_t tile = view_.group_tile_offset.data()[group] + __builtin_popcount(mask & (bit - 1));
      ids_[tiles_] = view_.col_id.data() + 8 * group;
      bits_[tiles_] = view_.bitmap.data()[tile];
      cursors_[tiles_++] = view_.value_offset.data()[tile];
    }
  }

  /// Yields row r of all tiles. Rows must be requested once, in ascending order, because the cursors advance.
  [[gnu::noinline]] Entries<A> row(int r) {
    RowWriter<V, A> writer(values_, scratch_);
    const int tiles = tiles_, shift = 8 * r;
    for (int t = 0; t < tiles; ++t) {
      const auto bits = static_cast<unsigned>(bits_[t] >> shift & 0xffu);
      const int count = __builtin_popcount(bits);
      writer.append_columns(ids_[t], bits);
      writer.append_values(cursors_[t], count);
      cursors_[t] += count;
    }
    return writer.entries();
  }

 private:
  /// Binary search, because a chunk may start at any row.
  [[nodiscard]] std::int64_t window_of(std::int64_t row) const {
    std::int64_t low = 0, high = static_cast<std::int64_t>(view_.window_row.size()) - 1;
    while (high - low > 1) {
      const std::int64_t middle = (low + high) / 2;
      (view_.window_row.data()[middle] <= row ? low : high) = middle;
    }
    return low;
  }

  formats::TallView view_;
  TileRange groups_;
  std::int64_t window_ = -1, first_row_ = 0;
  int sub_window_ = 0, rows_ = 0, tiles_ = 0;
  const std::int32_t* ids_[kGroupTiles];
  std::uint64_t bits_[kGroupTiles];
  std::int64_t cursors_[kGroupTiles];
  ValueArray<V> values_;
  RowScratch<V, A> scratch_;
};

/// Kernel of `tall`; a unit is a sub-window.
using TallKernel = WindowKernel<TallDecoder>;

}  // namespace sptile::runtime::SPTILE_ISA
