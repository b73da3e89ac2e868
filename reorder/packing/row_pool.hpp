// A few rows that a window chooses from, counted exactly.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sptile::reorder {

/// The columns of a window that grows, and up to kMost rows that may come next with the columns that the
/// window would gain by each. For every column one word says which of the rows hold it, so a column that
/// comes is counted for all of them at once. 8 bytes per column.
class RowPool {
 public:
  static constexpr std::size_t kMost = 31;

  explicit RowPool(std::int64_t cols) : columns_(static_cast<std::size_t>(cols)) {}

  /// Starts a window: no columns, no rows.
  void start_window();
  /// The window has the column from now on; false when it had it before.
  bool enter(std::int32_t column);

  /// Adds a row, of which there are fewer than kMost; `columns` stays where it is.
  void add(std::int32_t row, std::span<const std::int32_t> columns);
  /// Drops the rows.
  void clear();

  /// Takes out the row that gives the window most entries per column when it has `entries` and `columns`
  /// before; `whole_blocks` counts columns in eights. -1 when there is none, the first of equals.
  std::int32_t take_densest(std::int64_t entries, std::int64_t columns, bool whole_blocks);
  /// The row with most columns in the window, the first of equals; -1 when none has any.
  [[nodiscard]] std::int32_t most_shared() const;

 private:
  static constexpr std::uint32_t kInWindow = std::uint32_t{1} << kMost;

  struct Column {
    std::uint32_t holders = 0;  // bit i: row i of the pool; kInWindow: the window
    std::int32_t window = 0;    // that `holders` speaks of
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
