// Candidate rows for the next place in a window.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/core/packing_rules.hpp"

namespace sptile::reorder {

/// Rows that share columns with a window, one per slot. Slots 0 and 1 collect counts to be discarded, which
/// makes counting branch-free; branches on whether a row was seen before would be unpredictable.
class Candidates {
 public:
  static constexpr std::int32_t kNoRow = -1;

  /// Manages rows 0 .. rows - 1.
  explicit Candidates(std::int64_t rows);

  /// Clears the candidates. Rows excluded by remove() stay excluded.
  void clear();
  /// Adds one shared column to each of the rows (distinct, at most 2^30); `size` has the nonzeros of all
  /// rows, and empty rows count as removed. Returns the number of new candidates.
  std::int64_t share(std::span<const std::int32_t> rows, std::span<const std::int32_t> size);

  /// Excludes a row from the candidates.
  void remove(std::int32_t row);
  /// Makes an excluded row available again.
  void restore(std::int32_t row) { slot_[static_cast<std::size_t>(row)] = kUnseen; }
  [[nodiscard]] bool is_gone(std::int32_t row) const { return slot_[static_cast<std::size_t>(row)] == kGone; }

  /// Returns the row that maximizes nonzeros per column of a window with `entries` nonzeros and `columns`
  /// columns before; `whole_blocks` rounds columns up to multiples of eight. The first candidate wins ties;
  /// kNoRow if there is none. O(candidates).
  [[nodiscard]] std::int32_t densest(std::int64_t entries, std::int64_t columns, bool whole_blocks) const;
  /// Lists the `max` rows that are estimated to maximize nonzeros per column, best first, earlier candidates
  /// first on ties. Assumes that one in `per_shared` of the window's columns was counted. O(candidates).
  void promising(std::size_t max, std::int64_t entries, std::int64_t columns, float per_shared,
                 std::vector<std::int32_t>& rows);
  /// Returns the row with the most shared columns, the first candidate on ties; kNoRow if there is none.
  [[nodiscard]] std::int32_t most_shared() const;

 private:
  static constexpr std::int32_t kUnseen = 0, kGone = 1, kFirst = 2;  // special slots
  static constexpr std::int32_t kTooMany = packing::kTooMany;  // missing columns of a slot without a row

  struct Ranked {
    float density;
    std::int32_t slot;
  };
  void empty_slot(std::int32_t slot);
  void insert(Ranked ranked);

  std::vector<std::int32_t> slot_;  // by row
  // Indexed by slot; separate arrays, so that rows are compared by vector instructions.
  std::vector<std::int32_t> row_, size_;
  std::vector<std::int32_t> missing_;  // columns that the window would gain; 0 from index used_ on
  std::int32_t used_ = kFirst;
  std::vector<Ranked> best_;  // best first
};

}  // namespace sptile::reorder
