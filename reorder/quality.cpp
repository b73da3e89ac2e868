#include "reorder/quality.hpp"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_reduce.h>

#include <algorithm>
#include <cassert>
#include <functional>

#include "formats/compact_columns.hpp"

namespace sptile::reorder {
namespace {

// Counts of a run of windows; they add up exactly, so the result does not depend on how the runs were cut.
struct Counts {
  std::int64_t distinct = 0, blocks = 0, singles = 0;
  friend Counts operator+(Counts a, Counts b) {
    return {a.distinct + b.distinct, a.blocks + b.blocks, a.singles + b.singles};
  }
};

// stamp[c] remembers the last window that met column c: 2 * window after the first entry, one more after the
// second. Windows have different stamps, so nothing is ever cleared; even windows of one row fit 32 bits, as
// rows do.
using Stamps = std::vector<std::uint32_t>;
constexpr std::uint32_t kNever = 0xffffffffu;

class WindowCounter {
 public:
  WindowCounter(const formats::CsrView& a, std::span<const std::int32_t> order, int height)
      : a_(a), order_(order), height_(height) {}

  Counts count(std::int64_t window, Stamps& stamps) const {
    const auto first = static_cast<std::uint32_t>(2 * window);
    Counts counts;
    const std::int64_t end = std::min(a_.rows, (window + 1) * height_);
    for (std::int64_t i = window * height_; i < end; ++i)
      for (const std::int32_t column : row(i)) {
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

 private:
  std::span<const std::int32_t> row(std::int64_t i) const {
    const auto r = static_cast<std::size_t>(order_.empty() ? i : order_[static_cast<std::size_t>(i)]);
    return a_.col_idx.subspan(static_cast<std::size_t>(a_.row_ptr[r]),
                              static_cast<std::size_t>(a_.row_ptr[r + 1] - a_.row_ptr[r]));
  }

  const formats::CsrView& a_;
  std::span<const std::int32_t> order_;
  std::int64_t height_;
};

}  // namespace

WindowQuality measure_windows(const formats::CsrView& a, std::span<const std::int32_t> new_to_old,
                              int height) {
  assert(height >= 1 && (new_to_old.empty() || static_cast<std::int64_t>(new_to_old.size()) == a.rows));
  using Range = tbb::blocked_range<std::int64_t>;
  const formats::CompactColumns columns(a);
  const WindowCounter counter(columns.view(), new_to_old, height);
  tbb::enumerable_thread_specific<Stamps> stamps(static_cast<std::size_t>(columns.view().cols), kNever);
  const std::int64_t windows = (a.rows + height - 1) / height;
  const Counts counts = tbb::parallel_reduce(
      Range(0, windows, std::max(1, 2048 / height)), Counts{},
      [&](const Range& range, Counts sum) {
        Stamps& local = stamps.local();
        for (std::int64_t w = range.begin(); w < range.end(); ++w) sum = sum + counter.count(w, local);
        return sum;
      },
      std::plus<>());

  WindowQuality quality{height, counts.distinct, counts.blocks, 0, 0};
  if (counts.blocks > 0)
    quality.mean_nnz_tc = static_cast<double>(a.nnz()) / static_cast<double>(counts.blocks);
  if (counts.distinct > 0)
    quality.nnz1_ratio = static_cast<double>(counts.singles) / static_cast<double>(counts.distinct);
  return quality;
}

std::vector<WindowQuality> measure_quality(const formats::CsrView& a,
                                           std::span<const std::int32_t> new_to_old) {
  std::vector<WindowQuality> result;
  for (const int height : kQualityHeights) result.push_back(measure_windows(a, new_to_old, height));
  return result;
}

}  // namespace sptile::reorder
