// The rows that may come next in a window.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sptile::reorder {

/// Rows that share columns with a window, each in a slot. Slot 0 and slot 1 belong to nobody: what is counted
/// there is thrown away. Counting has no branches, since whether a row was met before cannot be guessed.
class Candidates {
 public:
  static constexpr std::int32_t kNoRow = -1;

  /// Takes rows 0 .. rows - 1.
  explicit Candidates(std::int64_t rows);

  /// Forgets all rows that are not gone.
  void clear();
  /// Each of the rows shares one more column with the window; at most 2^30 rows at once, each once. `size`
  /// has the entries of all rows; those with none are gone. Returns how many of the rows are met for the
  /// first time and not gone.
  std::int64_t share(std::span<const std::int32_t> rows, std::span<const std::int32_t> size);

  /// The row never comes up again.
  void remove(std::int32_t row);
  /// A row that is gone may come up again.
  void restore(std::int32_t row) { slot_[static_cast<std::size_t>(row)] = kUnseen; }
  [[nodiscard]] bool is_gone(std::int32_t row) const { return slot_[static_cast<std::size_t>(row)] == kGone; }

  /// The row that gives the window most entries per column when it has `entries` and `columns` before;
  /// `whole_blocks` counts columns in eights. kNoRow when there is none, the first met of equals. O(rows
  /// met).
  [[nodiscard]] std::int32_t densest(std::int64_t entries, std::int64_t columns, bool whole_blocks) const;
  /// The `most` rows that seem to give the window most entries per column, best first, of equals the first
  /// met, when the columns shared so far are one in `per_shared` of the window's. O(rows met).
  void promising(std::size_t most, std::int64_t entries, std::int64_t columns, float per_shared,
                 std::vector<std::int32_t>& rows);
  /// The row with most columns in the window, the first met of equals; kNoRow when there is none.
  [[nodiscard]] std::int32_t most_shared() const;

 private:
  static constexpr std::int32_t kUnseen = 0, kGone = 1, kFirst = 2;  // slots
  static constexpr std::int32_t kTooMany = 1 << 30;  // missing columns of a slot without a row

  struct Ranked {
    float density;
    std::int32_t slot;
  };
  void empty_slot(std::int32_t slot);
  void insert(Ranked ranked);

  std::vector<std::int32_t> slot_;  // by row
  // By slot; one array each, so that several rows are compared by one instruction.
  std::vector<std::int32_t> row_, size_;
  std::vector<std::int32_t> missing_;  // columns that the window would gain; from used_ on 0
  std::int32_t used_ = kFirst;
  std::vector<Ranked> best_;  // best first
};

}  // namespace sptile::reorder
