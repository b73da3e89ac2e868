// Finds the rows that share the most columns with a row.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "formats/core/buffer.hpp"
#include "formats/core/csr.hpp"

namespace sptile::reorder {

/// A matrix with rows and columns permuted by two orders, and its transpose.
struct PlacedMatrix {
  formats::Csr rows;     ///< columns of a row are unordered
  formats::Csr columns;  ///< ascending rows of each column
};

/// Moves row order[i] of `a` to position i, and column c to column_place[c]. O(nnz), parallel.
PlacedMatrix place(const formats::CsrView& a, std::span<const std::int32_t> order,
                   std::span<const std::int32_t> column_place);

/// Counts the columns that a row shares with other rows. For columns with many rows, only the nearest rows by
/// position are counted, and the best of these are counted again exactly.
class CommonNeighbours {
 public:
  static constexpr std::int64_t kMaxCounts = 4096;  ///< per row

  explicit CommonNeighbours(const PlacedMatrix& matrix);

  /// Finds up to best.size() rows other than `row`, among those accepted by `allowed`, that share the most
  /// columns with it: most first; on ties, the next row after `row`, then the lowest. Returns their number.
  /// Reads about kMaxCounts nonzeros of the row's columns, and up to the same number for the exact counts.
  template <class Allowed>
  std::size_t find(std::int32_t row, std::span<std::int32_t> best, Allowed allowed);

 private:
  static constexpr std::int64_t kMinRows =
      128;  // rows counted per column; if the budget is exceeded, columns are skipped
  static constexpr std::size_t kRecounted = 8;  // minimum rows counted exactly

  /// Counts into common_ and touched_; returns whether some nonzeros were skipped.
  bool count(std::int32_t row);
  void count_column(std::int32_t column, std::int32_t row, std::int64_t max);
  /// Counts the given rows exactly and sorts them, unless that takes more than kMaxCounts steps.
  void recount(std::int32_t row, std::span<std::int32_t> others);
  [[nodiscard]] bool before(std::int32_t row, std::int32_t x, std::int32_t y) const;

  const PlacedMatrix& matrix_;
  std::vector<std::uint16_t> common_;  // by row; 0 between calls
  std::vector<std::int32_t> touched_;  // counted rows, followed by unused space
  std::size_t touched_count_ = 0;
  std::vector<std::int32_t> column_of_;  // by column: last row for which recount read it
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
  std::uint16_t min = 1;  // count of the last candidate, if `best` is full
  for (std::size_t i = 0; i < touched_count_; ++i) {
    const std::int32_t other = touched_[i];
    if (common_[static_cast<std::size_t>(other)] < min || !allowed(other)) continue;
    if (found == candidates_.size() && !before(row, other, candidates_.back())) continue;
    std::size_t at = found < candidates_.size() ? found++ : found - 1;
    for (; at > 0 && before(row, other, candidates_[at - 1]); --at) candidates_[at] = candidates_[at - 1];
    candidates_[at] = other;
    if (found == candidates_.size()) min = common_[static_cast<std::size_t>(candidates_.back())];
  }
  if (partly) recount(row, {candidates_.data(), found});
  for (std::size_t i = 0; i < touched_count_; ++i) common_[static_cast<std::size_t>(touched_[i])] = 0;
  found = std::min(found, best.size());
  std::copy_n(candidates_.begin(), found, best.begin());
  return found;
}

}  // namespace sptile::reorder
