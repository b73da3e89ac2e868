// A small set of candidate rows with exact counts.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "formats/core/packing_rules.hpp"

namespace sptile::reorder {

/// The columns of a growing window and up to kMax candidate rows, with the number of columns that each would
/// add. One word per column marks the rows that contain it, so that a new column is counted for all rows at
/// once. 8 bytes per column.
class RowPool {
 public:
  static constexpr std::size_t kMax = packing::kPoolRows;

  explicit RowPool(std::int64_t cols) : columns_(static_cast<std::size_t>(cols)) {}

  /// Starts a window without columns or rows.
  void start_window();
  /// Adds a column to the window; returns false if it was already in it.
  bool enter(std::int32_t column);

  /// Adds a row; requires fewer than kMax rows. `columns` must outlive its use.
  void add(std::int32_t row, std::span<const std::int32_t> columns);
  /// Removes all rows.
  void clear();

  /// Removes and returns the row that maximizes nonzeros per column of a window with `entries` nonzeros and
  /// `columns` columns before; `whole_blocks` rounds columns up to multiples of eight. The first row wins
  /// ties; -1 if there is none.
  std::int32_t take_densest(std::int64_t entries, std::int64_t columns, bool whole_blocks);
  /// Returns the row that shares the most columns with the window, the first one on ties; -1 if no row shares
  /// any.
  [[nodiscard]] std::int32_t most_shared() const;

 private:
  static constexpr std::uint32_t kInWindow = std::uint32_t{1} << kMax;

  struct Column {
    std::uint32_t holders = 0;  // bit i: row i of the pool; kInWindow: the window
    std::int32_t window = 0;    // window that `holders` is valid for
  };
  struct Row {
    std::int32_t row;  // -1: taken
    std::int32_t missing;
    std::span<const std::int32_t> columns;
  };

  std::uint32_t& holders(std::int32_t column) {
    Column& found = columns_[static_cast<std::size_t>(column)];
    found = {found.window == window_ ? found.holders : 0, window_};
    return found.holders;
  }

  std::vector<Column> columns_;
  std::vector<Row> rows_;
  std::int32_t window_ = 0;
};

inline bool RowPool::enter(std::int32_t column) {
  std::uint32_t& held = holders(column);
  const bool fresh = (held & kInWindow) == 0;
  for (std::uint32_t rows = fresh ? held : 0; rows != 0; rows &= rows - 1)
    --rows_[static_cast<std::size_t>(std::countr_zero(rows))].missing;
  held |= kInWindow;
  return fresh;
}

}  // namespace sptile::reorder
