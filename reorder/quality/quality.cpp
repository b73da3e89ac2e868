#include "reorder/quality/quality.hpp"

#include <tbb/blocked_range.h>

#include <algorithm>
#include <cassert>
#include <functional>

#include "formats/core/compact_columns.hpp"
#include "formats/core/parallel_reduce.hpp"
#include "formats/core/per_thread.hpp"

namespace sptile::reorder {
namespace {

// Counts of a range of windows. They are integers, so the sums do not depend on how ranges are split.
struct Counts {
  std::int64_t distinct = 0, blocks = 0, singles = 0;
  friend Counts operator+(Counts a, Counts b) {
    return {a.distinct + b.distinct, a.blocks + b.blocks, a.singles + b.singles};
  }
};

// stamp[c] records the last window that contains column c: 2 * window after the first nonzero, plus one after
// the second. Windows have different stamps, so the array is never cleared; stamps of one-row windows fit in
// 32 bits, because rows do.
using Stamps = std::vector<std::uint32_t>;
constexpr std::uint32_t kNever = 0xffffffffu;

/// A matrix and an order of its rows.
struct OrderedRows {
  const formats::CsrView& a;
  std::span<const std::int32_t> order;  // empty: original order

  std::span<const std::int32_t> row(std::int64_t i) const {
    const auto r = static_cast<std::size_t>(order.empty() ? i : order[static_cast<std::size_t>(i)]);
    return a.col_idx.subspan(static_cast<std::size_t>(a.row_ptr[r]),
                             static_cast<std::size_t>(a.row_ptr[r + 1] - a.row_ptr[r]));
  }
};

Counts count_window(const OrderedRows& rows, std::int64_t window, std::int64_t height, Stamps& stamps) {
  const auto first = static_cast<std::uint32_t>(2 * window);
  Counts counts;
  const std::int64_t end = std::min(rows.a.rows, (window + 1) * height);
  for (std::int64_t i = window * height; i < end; ++i)
    for (const std::int32_t column : rows.row(i)) {
      std::uint32_t& stamp = stamps[static_cast<std::size_t>(column)];
      if (stamp == first) {
        --counts.singles;
        stamp = first + 1;
      } else if (stamp != first + 1) {
        ++counts.distinct, ++counts.singles;
        stamp = first;
      }
    }
  counts.blocks = (counts.distinct + 7) / 8;
  return counts;
}

/// Counts the blocks of two windows separately and merged. A stamp is the last window that contains the
/// column.
BlockCounts count_pair(const OrderedRows& rows, std::int64_t pair, std::int64_t height, Stamps& stamps) {
  BlockCounts counts;
  std::int64_t together = 0;
  const auto first = static_cast<std::uint32_t>(2 * pair);
  for (std::uint32_t window = first; window < first + 2; ++window) {
    std::int64_t distinct = 0;
    const std::int64_t end = std::min(rows.a.rows, (std::int64_t{window} + 1) * height);
    for (std::int64_t i = std::int64_t{window} * height; i < end; ++i)
      for (const std::int32_t column : rows.row(i)) {
        std::uint32_t& stamp = stamps[static_cast<std::size_t>(column)];
        distinct += stamp != window;
        together += stamp != window && stamp != first;
        stamp = window;
      }
    counts.blocks += (distinct + 7) / 8;
  }
  counts.twice = (together + 7) / 8;
  return counts;
}

/// Sums count(number, stamps) over windows of `rows_of_each` rows, in parallel.
template <class Sum, class Count>
Sum sum_windows(std::int64_t windows, std::int64_t rows_of_each, std::int64_t columns, const Count& count) {
  using Range = tbb::blocked_range<std::int64_t>;
  parallel::PerThread<Stamps> stamps(static_cast<std::size_t>(columns), kNever);
  return parallel::reduce(
      Range(0, windows, static_cast<std::size_t>(std::max<std::int64_t>(1, 2048 / rows_of_each))), Sum{},
      [&](const Range& range, Sum sum) {
        Stamps& local = stamps.local();
        for (std::int64_t w = range.begin(); w < range.end(); ++w) sum = sum + count(w, local);
        return sum;
      },
      std::plus<>());
}

}  // namespace

WindowQuality measure_windows(const formats::CsrView& a, std::span<const std::int32_t> new_to_old,
                              int height) {
  assert(height >= 1 && (new_to_old.empty() || static_cast<std::int64_t>(new_to_old.size()) == a.rows));
  const formats::CompactColumns columns(a);
  const OrderedRows rows{columns.view(), new_to_old};
  const auto counts = sum_windows<Counts>(
      (a.rows + height - 1) / height, height, columns.view().cols,
      [&](std::int64_t window, Stamps& stamps) { return count_window(rows, window, height, stamps); });

  WindowQuality quality{height, counts.distinct, counts.blocks, 0, 0};
  if (counts.blocks > 0)
    quality.mean_nnz_tc = static_cast<double>(a.nnz()) / static_cast<double>(counts.blocks);
  if (counts.distinct > 0)
    quality.nnz1_ratio = static_cast<double>(counts.singles) / static_cast<double>(counts.distinct);
  return quality;
}

BlockCounts count_blocks(const formats::CsrView& a, std::span<const std::int32_t> new_to_old, int height) {
  assert(height >= 1 && (new_to_old.empty() || static_cast<std::int64_t>(new_to_old.size()) == a.rows));
  const formats::CompactColumns columns(a);
  const OrderedRows rows{columns.view(), new_to_old};
  const std::int64_t pair_rows = std::int64_t{2} * height;
  return sum_windows<BlockCounts>(
      (a.rows + pair_rows - 1) / pair_rows, pair_rows, columns.view().cols,
      [&](std::int64_t pair, Stamps& stamps) { return count_pair(rows, pair, height, stamps); });
}

std::vector<WindowQuality> measure_quality(const formats::CsrView& a,
                                           std::span<const std::int32_t> new_to_old) {
  std::vector<WindowQuality> result;
  for (const int height : kQualityHeights) result.push_back(measure_windows(a, new_to_old, height));
  return result;
}

}  // namespace sptile::reorder
