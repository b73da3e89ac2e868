// Rows that share most columns with a row.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "formats/core/buffer.hpp"
#include "formats/core/csr.hpp"

namespace sptile::reorder {

/// A matrix whose rows and columns are known by their places in two orders, with the rows of each column.
struct PlacedMatrix {
  formats::Csr rows;     ///< columns of a row in no order
  formats::Csr columns;  ///< ascending rows of each column
};

/// Takes row order[i] of `a` to place i, and column c to place column_place[c]. O(nnz), parallel.
PlacedMatrix place(const formats::CsrView& a, std::span<const std::int32_t> order,
                   std::span<const std::int32_t> column_place);

/// Counts for one row after the other how many columns it shares with others. Where the columns of a row have
/// many rows, only those nearest in place are counted, and the best of them counted again exactly.
class CommonNeighbours {
 public:
  static constexpr std::int64_t kMostCounts = 4096;  ///< per row

  explicit CommonNeighbours(const PlacedMatrix& matrix);

  /// Finds up to best.size() rows other than `row` that share most columns with it, among those that
  /// `allowed` takes: most first, of equals the next one after `row`, then the first one. Gives their number.
  /// Looks at about kMostCounts entries of the row's columns, and again at as many for the exact counts.
  template <class Allowed>
  std::size_t find(std::int32_t row, std::span<std::int32_t> best, Allowed allowed);

 private:
  static constexpr std::int64_t kLeastRows =
      128;                                      // of a column; where that is too many, columns are left out
  static constexpr std::size_t kRecounted = 8;  // rows at least

  /// Counts into common_ and touched_; true when some entries were left out.
  bool count(std::int32_t row);
  void count_column(std::int32_t column, std::int32_t row, std::int64_t most);
  /// Counts the given rows exactly and sorts them, unless that takes more than kMostCounts.
  void recount(std::int32_t row, std::span<std::int32_t> others);
  [[nodiscard]] bool before(std::int32_t row, std::int32_t x, std::int32_t y) const;

  const PlacedMatrix& matrix_;
  std::vector<std::uint16_t> common_;  // by row; 0 between two calls
  std::vector<std::int32_t> touched_;  // rows that were counted, then unused space
  std::size_t touched_count_ = 0;
  std::vector<std::int32_t> column_of_;  // by column: the last row that recount looked at it for
  std::vector<std::int32_t> candidates_;
};

inline bool CommonNeighbours::before(std::int32_t row, std::int32_t x, std::int32_t y) const {
  const std::uint16_t shared_x = common_[static_cast<std::size_t>(x)];
  const std::uint16_t shared_y = common_[static_cast<std::size_t>(y)];
  if (shared_x != shared_y) return shared_x > shared_y;
  return (x > row) != (y > row) ? x > row : x < y;
}

template <class Allowed>
std::size_t CommonNeighbours::find(std::int32_t row, std::span<std::int32_t> best, Allowed allowed) {
  const bool partly = count(row);
  common_[static_cast<std::size_t>(row)] = 0;
  candidates_.resize(partly ? std::max(kRecounted, 2 * best.size()) : best.size());
  std::size_t found = 0;
  std::uint16_t least = 1;  // what the last candidate shares, once there are enough
  for (std::size_t i = 0; i < touched_count_; ++i) {
    const std::int32_t other = touched_[i];
    if (common_[static_cast<std::size_t>(other)] < least || !allowed(other)) continue;
    if (found == candidates_.size() && !before(row, other, candidates_.back())) continue;
    std::size_t at = found < candidates_.size() ? found++ : found - 1;
    for (; at > 0 && before(row, other, candidates_[at - 1]); --at) candidates_[at] = candidates_[at - 1];
    candidates_[at] = other;
    if (found == candidates_.size()) least = common_[static_cast<std::size_t>(candidates_.back())];
  }
  if (partly) recount(row, {candidates_.data(), found});
  for (std::size_t i = 0; i < touched_count_; ++i) common_[static_cast<std::size_t>(touched_[i])] = 0;
  found = std::min(found, best.size());
  std::copy_n(candidates_.begin(), found, best.begin());
  return found;
}

}  // namespace sptile::reorder
