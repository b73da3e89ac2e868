// The rows that may come next in a window.
#pragma once

#include <cstdint>
#include <vector>

namespace sptile::reorder {

/// Rows that share columns with a window, by slot. Slot 0 and slot 1 belong to nobody: what is counted there
/// is thrown away, so callers need no test.
class Candidates {
 public:
  static constexpr std::int32_t kNoRow = -1;

  void clear();
  /// Adds a row of `size` columns that shares none yet; gives its slot.
  std::int32_t add(std::int32_t row, std::int32_t size);
  /// The row shares one more column with the window.
  void share(std::int32_t slot) { --missing_[static_cast<std::size_t>(slot)]; }
  /// The row of a slot never comes up again.
  void remove(std::int32_t slot);

  /// The slot whose row gives the window most entries per column when it has `entries` and `columns` before;
  /// `whole_blocks` counts columns in eights. 0 when there is none, the first of equals. O(slots).
  [[nodiscard]] std::int32_t densest(std::int64_t entries, std::int64_t columns, bool whole_blocks) const;
  /// Slots of the `most` rows that seem to give the window most entries per column, best first, of equals the
  /// first ones, when the columns counted so far are one in `per_counted` of the window's. O(slots).
  void promising(std::size_t most, std::int64_t entries, std::int64_t columns, float per_counted,
                 std::vector<std::int32_t>& slots);
  /// The slot whose row has most columns in the window, the first of equals; 0 when there is none.
  [[nodiscard]] std::int32_t most_shared() const;

  [[nodiscard]] std::int32_t slots() const { return static_cast<std::int32_t>(row_.size()); }
  [[nodiscard]] std::int32_t row(std::int32_t slot) const { return row_[static_cast<std::size_t>(slot)]; }

 private:
  // One array each, so that densest() compares several rows per instruction.
  std::vector<std::int32_t> row_, size_;
  std::vector<std::int32_t> missing_;  // columns that the window would gain

  struct Ranked {
    float density;
    std::int32_t slot;
  };
  void keep_best(std::size_t most);

  std::vector<Ranked> ranked_;
};

}  // namespace sptile::reorder
