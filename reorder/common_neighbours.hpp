// Rows that share most columns with a row.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/buffer.hpp"
#include "formats/csr.hpp"

namespace sptile::reorder {

/// A matrix whose rows and columns are known by their places in two orders, with the rows of each column.
struct PlacedMatrix {
  formats::Csr rows;     ///< columns of a row in no order
  formats::Csr columns;  ///< ascending rows of each column
};

/// Takes row order[i] of `a` to place i, and column c to place column_place[c]. O(nnz), parallel.
PlacedMatrix place(const formats::CsrView& a, std::span<const std::int32_t> order,
                   std::span<const std::int32_t> column_place);

/// Counts for one row after the other how many columns it shares with others. Bounded per row: the shorter
/// columns go first until `kMostCounts` entries were seen, and of a column with more than `kMostRows` rows
/// only those nearest in place count.
class CommonNeighbours {
 public:
  static constexpr std::int64_t kMostCounts = 4096;
  static constexpr std::int64_t kMostRows = 512;

  explicit CommonNeighbours(const PlacedMatrix& matrix);

  /// Finds up to best.size() rows other than `row` that share most columns with it, among those that
  /// `allowed` takes: most first, of equals the next one after `row`, then the first one. Gives their number.
  template <class Allowed>
  std::size_t find(std::int32_t row, std::span<std::int32_t> best, Allowed allowed);

 private:
  void count(std::int32_t row);
  void count_column(std::int32_t column, std::int32_t row);

  const PlacedMatrix& matrix_;
  std::vector<std::uint32_t> common_;  // by row; 0 between two calls
  std::vector<std::int32_t> touched_;  // rows that were counted, then unused space
  std::size_t touched_count_ = 0;
};

template <class Allowed>
std::size_t CommonNeighbours::find(std::int32_t row, std::span<std::int32_t> best, Allowed allowed) {
  count(row);
  common_[static_cast<std::size_t>(row)] = 0;
  std::size_t found = 0;
  std::uint32_t least = 0;  // what the last of `best` shares, once it is full
  const auto before = [&](std::int32_t x, std::uint32_t shared, std::int32_t y) {
    const std::uint32_t other = common_[static_cast<std::size_t>(y)];
    if (shared != other) return shared > other;
    return (x > row) != (y > row) ? x > row : x < y;
  };
  for (std::size_t i = 0; i < touched_count_; ++i) {
    const std::int32_t other = touched_[i];
    const std::uint32_t shared = common_[static_cast<std::size_t>(other)];
    if (shared < least || shared == 0 || !allowed(other)) continue;
    if (found == best.size() && !before(other, shared, best[found - 1])) continue;
    std::size_t at = found < best.size() ? found++ : found - 1;
    for (; at > 0 && before(other, shared, best[at - 1]); --at) best[at] = best[at - 1];
    best[at] = other;
    if (found == best.size()) least = common_[static_cast<std::size_t>(best[found - 1])];
  }
  for (std::size_t i = 0; i < touched_count_; ++i) common_[static_cast<std::size_t>(touched_[i])] = 0;
  return found;
}

}  // namespace sptile::reorder
