#include "reorder/methods/loa.hpp"

#include <tbb/blocked_range.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>

#include "formats/core/csr.hpp"
#include "formats/core/invert_lists.hpp"
#include "formats/core/parallel_loop.hpp"
#include "formats/core/per_thread.hpp"

namespace sptile::reorder {
namespace {

constexpr std::uint32_t kTaken = 1u << 31;  // marks a taken row, in place of a counter
constexpr std::int64_t kMaxRows = 512;  // maximum rows of a column to count, those that follow in the list

constexpr std::int64_t kRanges = 128;      // ranges of the list are filled independently
constexpr std::int64_t kRangeRows = 2048;  // minimum rows of a range
constexpr std::int64_t kScanned = 32;      // rows of a column to scan before a binary search
constexpr std::int64_t kRowCost = 16;      // cost of a row, in nonzeros

/// Returns the rows sorted by first column, then by id; empty rows last.
std::vector<std::int32_t> by_first_column(const formats::CsrView& a) {
  std::vector<std::int32_t> first_column(static_cast<std::size_t>(a.rows));
  std::vector<std::int64_t> before(static_cast<std::size_t>(a.rows) + 1);
  parallel::loop(tbb::blocked_range<std::int64_t>(0, a.rows, 4096), [&](const auto& range) {
    for (std::int64_t r = range.begin(); r < range.end(); ++r) {
      const auto row = static_cast<std::size_t>(r);
      before[row + 1] = r + 1;
      first_column[row] = a.row_nnz(r) == 0 ? static_cast<std::int32_t>(a.cols)
                                            : a.col_idx[static_cast<std::size_t>(a.row_ptr[row])];
    }
  });
  const auto inverse = formats::invert_lists(a.cols + 1, before, [&](std::int64_t r) {
    return std::span(first_column).subspan(static_cast<std::size_t>(r), 1);
  });
  return {inverse.items.begin(), inverse.items.end()};
}

/// Divides the first `listed` rows into ranges of similar cost, each a multiple of `height` rows except for
/// the last one. Returns the first row of each range, then `listed`. Depends only on the matrix.
std::vector<std::int64_t> divide(const formats::CsrView& rows, std::int64_t listed, int height) {
  const auto cost = [&](std::int64_t row) {
    return rows.row_ptr[static_cast<std::size_t>(row)] + row * kRowCost;
  };
  const std::int64_t share = cost(listed) / kRanges + 1;
  const std::int64_t min_rows = (kRangeRows + height - 1) / height * height;
  std::vector<std::int64_t> first = {0};
  for (std::int64_t row = min_rows; row + min_rows <= listed; row += height) {
    if (cost(row) - cost(first.back()) < share) continue;
    first.push_back(row);
    row += min_rows - height;
  }
  first.push_back(listed);
  return first;
}

/// Fills the windows of ranges of rows; one per thread. Rows are identified by their position in the list.
class WindowFiller {
 public:
  /// `rows` contains only nonempty rows; `span` is VW in the paper.
  WindowFiller(const formats::CsrView& rows, const formats::Csr& columns, std::int64_t span)
      : rows_(rows), columns_(columns), span_(span), column_states_(static_cast<std::size_t>(rows.cols)) {}

  /// Starts with the windows of rows begin .. end - 1.
  void start(std::int64_t begin, std::int64_t end) {
    if (begin < listed_) valid_after_ = window_;
    begin_ = first_ = begin;
    listed_ = end;
    common_.assign(static_cast<std::size_t>(end - begin), 0);
    sort_by_entries();
  }

  /// Writes the next window of at most `height` rows; returns the number of rows.
  std::int64_t fill(int height, std::int32_t* order) {
    while (taken(first_)) ++first_;
    end_ = std::min(listed_, first_ + span_);
    entries_ = distinct_ = 0;
    ++window_;
    std::int64_t row = first_;
    int count = 0;
    for (; row >= 0; row = pick()) {
      common(row) = kTaken;
      order[count++] = static_cast<std::int32_t>(row);
      if (count == height) break;
      add(row);
    }
    for (const std::int32_t r : touched_)
      if (!taken(r)) common(r) = 0;
    touched_.clear();
    return count;
  }

 private:
  struct Candidate {
    std::int64_t row = -1, entries = 0, distinct = 1, own = 0;
  };

  /// Adds the row's columns to the window and counts each new one for the rows that contain it.
  void add(std::int64_t row) {
    entries_ += rows_.row_nnz(row);
    for (std::int64_t k = rows_.row_ptr[static_cast<std::size_t>(row)];
         k < rows_.row_ptr[static_cast<std::size_t>(row) + 1]; ++k) {
      const std::int32_t column = rows_.col_idx[static_cast<std::size_t>(k)];
      if (column_states_[static_cast<std::size_t>(column)].window == window_) continue;
      ++distinct_;
      count(column);
    }
  }

  /// Counts a column that enters the window.
  void count(std::int32_t column) {
    const std::int32_t* const list = columns_.col_idx.data() + columns_.row_ptr[column];
    const std::int64_t size = columns_.row_ptr[column + 1] - columns_.row_ptr[column];
    ColumnState& state = column_states_[static_cast<std::size_t>(column)];
    if (state.window <= valid_after_) state.next = 0;
    if (size - state.next > kScanned && list[state.next + kScanned] < first_)
      state.next = static_cast<std::int32_t>(std::lower_bound(list + state.next, list + size, first_) - list);
    state.window = window_;
    while (state.next < size &&
           (list[state.next] < first_ || (list[state.next] < listed_ && taken(list[state.next]))))
      ++state.next;
    const std::int64_t last = std::min(size, state.next + kMaxRows);
    for (std::int64_t k = state.next; k < last && list[k] < end_; ++k)
      if (common(list[k])++ == 0) touched_.push_back(list[k]);
  }

  std::uint32_t& common(std::int64_t row) { return common_[static_cast<std::size_t>(row - begin_)]; }
  [[nodiscard]] bool taken(std::int64_t row) const {
    return common_[static_cast<std::size_t>(row - begin_)] >= kTaken;
  }

  /// Returns whether x is better: more nonzeros per distinct column, then more nonzeros, then earlier.
  static bool better(const Candidate& x, const Candidate& y) {
    __extension__ using Wide = __int128;
    const Wide left = static_cast<Wide>(x.entries) * y.distinct;
    const Wide right = static_cast<Wide>(y.entries) * x.distinct;
    if (left != right) return left > right;
    return x.own != y.own ? x.own > y.own : x.row < y.row;
  }

  Candidate candidate(std::int64_t row) const {
    const std::int64_t own = rows_.row_nnz(row);
    return {row, entries_ + own, distinct_ + own - common_[static_cast<std::size_t>(row - begin_)], own};
  }

  /// Returns the best free row within the span; -1 if there is none.
  std::int64_t pick() {
    Candidate best;
    const auto consider = [&](std::int64_t row) {
      const Candidate next = candidate(row);
      if (best.row < 0 || better(next, best)) best = next;
    };
    for (std::size_t i = 0; i < touched_.size();) {
      if (taken(touched_[i])) {
        touched_[i] = touched_.back();
        touched_.pop_back();
      } else {
        consider(touched_[i++]);
      }
    }
    // A row without shared columns can be best only if it is short; compare with the shortest one.
    const Candidate mark = {-1, entries_ + min_entries_, distinct_ + min_entries_, rows_.cols};
    if (best.row >= 0 && !better(mark, best)) return best.row;
    if (end_ - first_ < listed_ - first_) {
      for (std::int64_t row = first_; row < end_; ++row)
        if (!taken(row)) consider(row);
    } else if (const std::int64_t row = entries_ > distinct_ ? shortest() : longest(); row >= 0) {
      consider(row);
    }
    return best.row;
  }

  /// Sorts the rows of the range by number of nonzeros, then by position.
  void sort_by_entries() {
    min_entries_ = std::numeric_limits<std::int32_t>::max();
    longest_ = shortest_ = 0;
    for (std::int64_t r = begin_; r < listed_; ++r) {
      min_entries_ = std::min(min_entries_, rows_.row_nnz(r));
      longest_ = std::max(longest_, rows_.row_nnz(r));
    }
    std::vector<std::int64_t>& start = length_start_;
    start.assign(static_cast<std::size_t>(longest_) + 2, 0);
    for (std::int64_t r = begin_; r < listed_; ++r) ++start[static_cast<std::size_t>(rows_.row_nnz(r)) + 1];
    std::partial_sum(start.begin(), start.end(), start.begin());
    length_next_.assign(start.begin(), start.end() - 1);
    by_length_.resize(static_cast<std::size_t>(listed_ - begin_));
    for (std::int64_t r = begin_; r < listed_; ++r)
      by_length_[static_cast<std::size_t>(length_next_[static_cast<std::size_t>(rows_.row_nnz(r))]++)] =
          static_cast<std::int32_t>(r);
    length_next_.assign(start.begin(), start.end() - 1);
  }

  /// Returns the first free row with the fewest nonzeros; -1 if there is none.
  std::int64_t shortest() {
    while (shortest_ < by_length_.size() && taken(by_length_[shortest_])) ++shortest_;
    return shortest_ < by_length_.size() ? by_length_[shortest_] : -1;
  }

  /// Returns the first free row with the most nonzeros; -1 if there is none.
  std::int64_t longest() {
    for (; longest_ > 0; --longest_) {
      const auto length = static_cast<std::size_t>(longest_);
      std::int64_t& at = length_next_[length];
      while (at < length_start_[length + 1] && taken(by_length_[static_cast<std::size_t>(at)])) ++at;
      if (at < length_start_[length + 1]) return by_length_[static_cast<std::size_t>(at)];
    }
    return -1;
  }

  /// Per column: the last window that contains it, and the index in its list of the first row that may be
  /// free.
  struct ColumnState {
    std::int32_t window = 0, next = 0;
  };

  const formats::CsrView& rows_;
  const formats::Csr& columns_;
  std::int64_t span_;
  std::int64_t begin_ = 0, listed_ = 0;  // the range
  std::vector<std::uint32_t> common_;    // by row of the range
  std::vector<std::int32_t> touched_;    // rows with a nonzero counter
  std::vector<ColumnState> column_states_;
  std::int32_t window_ = 0;       // number of the current window
  std::int32_t valid_after_ = 0;  // column states of windows up to this one are of later ranges
  std::int64_t first_ = 0, end_ = 0;
  std::int64_t entries_ = 0, distinct_ = 0;  // counts of the current window
  std::vector<std::int32_t> by_length_;      // rows by number of nonzeros
  std::vector<std::int64_t> length_start_;   // start of each number of nonzeros in by_length_
  std::vector<std::int64_t> length_next_;    // first possibly free row for each number of nonzeros
  std::size_t shortest_ = 0;                 // next index in by_length_
  std::int64_t longest_ = 0;                 // next number of nonzeros
  std::int64_t min_entries_ = 0;
};

}  // namespace

Result<std::vector<std::int32_t>> order_by_loa(const formats::CsrView& a, const ReorderOptions& options) {
  const auto span = static_cast<std::int64_t>(setting(options, kLoaParameters, "window"));
  const std::vector<std::int32_t> list = by_first_column(a);
  const formats::Csr rows = formats::permute_rows({a.rows, a.cols, a.row_ptr, a.col_idx, {}}, list);
  std::int64_t listed = a.rows;
  while (listed > 0 && rows.view().row_nnz(listed - 1) == 0) --listed;

  begin(options.progress, "fill windows", listed);
  std::vector<std::int32_t> order(static_cast<std::size_t>(a.rows));
  std::iota(order.begin() + listed, order.end(), static_cast<std::int32_t>(listed));
  const formats::CsrView view = rows.view();
  const formats::Csr columns = formats::transpose(view);
  const std::vector<std::int64_t> first = divide(view, listed, options.window_rows);
  parallel::PerThread<WindowFiller> fillers(
      [&] { return WindowFiller(view, columns, span > 0 ? span : listed); });
  parallel::loop(
      std::size_t{1}, first.size(),
      [&](std::size_t range) {
        WindowFiller& filler = fillers.local();
        filler.start(first[range - 1], first[range]);
        for (std::int64_t row = first[range - 1]; row < first[range] && !cancelled(options.progress);
             advance(options.progress, options.window_rows))
          row += filler.fill(options.window_rows, order.data() + row);
      },
      tbb::simple_partitioner());
  if (cancelled(options.progress)) return fail(Errc::io, "cancelled");
  parallel::loop(tbb::blocked_range<std::size_t>(0, order.size(), 4096), [&](const auto& range) {
    for (std::size_t i = range.begin(); i < range.end(); ++i)
      order[i] = list[static_cast<std::size_t>(order[i])];
  });
  return order;
}

}  // namespace sptile::reorder
