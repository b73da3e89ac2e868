#include "reorder/methods/loa.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>

#include "formats/core/csr.hpp"

namespace sptile::reorder {
namespace {

constexpr std::uint32_t kTaken = 1u << 31;  // marks a taken row, in place of a counter
constexpr std::int64_t kMaxRows = 512;  // maximum rows of a column to count, those that follow in the list

/// Returns the rows sorted by first column, then by id; empty rows last.
std::vector<std::int32_t> by_first_column(const formats::CsrView& a) {
  const auto first_column = [&](std::int64_t r) {
    return static_cast<std::size_t>(
        a.row_nnz(r) == 0 ? a.cols
                          : a.col_idx[static_cast<std::size_t>(a.row_ptr[static_cast<std::size_t>(r)])]);
  };
  std::vector<std::int64_t> next(static_cast<std::size_t>(a.cols) + 2, 0);
  for (std::int64_t r = 0; r < a.rows; ++r) ++next[first_column(r) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<std::int32_t> order(static_cast<std::size_t>(a.rows));
  for (std::int64_t r = 0; r < a.rows; ++r)
    order[static_cast<std::size_t>(next[first_column(r)]++)] = static_cast<std::int32_t>(r);
  return order;
}

/// Fills windows. Rows are identified by their position in the list.
class WindowFiller {
 public:
  /// `rows` contains only nonempty rows; `span` is VW in the paper.
  WindowFiller(const formats::CsrView& rows, std::int64_t listed, std::int64_t span)
      : rows_(rows),
        columns_(formats::transpose(rows)),
        listed_(listed),
        span_(span),
        common_(static_cast<std::size_t>(listed), 0),
        column_start_(rows.cols),
        column_window_(static_cast<std::size_t>(rows.cols), -1) {
    std::copy_n(columns_.row_ptr.data(), rows.cols, column_start_.data());
    sort_by_entries();
  }

  /// Appends the next window of at most `height` rows.
  void fill(int height, std::vector<std::int32_t>& order) {
    while (taken(first_)) ++first_;
    end_ = std::min(listed_, first_ + span_);
    entries_ = distinct_ = 0;
    ++window_;
    std::int64_t row = first_;
    for (int i = 0; row >= 0; row = pick()) {
      common_[static_cast<std::size_t>(row)] = kTaken;
      order.push_back(static_cast<std::int32_t>(row));
      if (++i == height) break;
      add(row);
    }
    for (const std::int32_t r : touched_)
      if (!taken(r)) common_[static_cast<std::size_t>(r)] = 0;
    touched_.clear();
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
      if (column_window_[static_cast<std::size_t>(column)] == window_) continue;
      column_window_[static_cast<std::size_t>(column)] = window_;
      ++distinct_;
      count(column);
    }
  }

  void count(std::int32_t column) {
    const std::int64_t end = columns_.row_ptr[column + 1];
    std::int64_t& start = column_start_[column];
    while (start < end && (columns_.col_idx[start] < first_ || taken(columns_.col_idx[start]))) ++start;
    const std::int64_t last = std::min(end, start + kMaxRows);
    for (std::int64_t k = start; k < last && columns_.col_idx[k] < end_; ++k) {
      const std::int32_t row = columns_.col_idx[k];
      if (common_[static_cast<std::size_t>(row)]++ == 0) touched_.push_back(row);
    }
  }

  [[nodiscard]] bool taken(std::int64_t row) const {
    return common_[static_cast<std::size_t>(row)] >= kTaken;
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
    return {row, entries_ + own, distinct_ + own - common_[static_cast<std::size_t>(row)], own};
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

  /// Sorts rows by number of nonzeros, then by position.
  void sort_by_entries() {
    std::vector<std::int64_t>& start = length_start_;
    start.assign(static_cast<std::size_t>(rows_.cols) + 2, 0);
    for (std::int64_t r = 0; r < listed_; ++r) {
      ++start[static_cast<std::size_t>(rows_.row_nnz(r)) + 1];
      min_entries_ = std::min(min_entries_, rows_.row_nnz(r));
    }
    std::partial_sum(start.begin(), start.end(), start.begin());
    length_next_ = start;
    by_length_.resize(static_cast<std::size_t>(listed_));
    for (std::int64_t r = 0; r < listed_; ++r)
      by_length_[static_cast<std::size_t>(length_next_[static_cast<std::size_t>(rows_.row_nnz(r))]++)] =
          static_cast<std::int32_t>(r);
    length_next_.assign(start.begin(), start.end() - 1);
    longest_ = rows_.cols;
  }

  /// Returns the first free row with the fewest nonzeros; -1 if there is none.
  std::int64_t shortest() {
    while (shortest_ < listed_ && taken(by_length_[static_cast<std::size_t>(shortest_)])) ++shortest_;
    return shortest_ < listed_ ? by_length_[static_cast<std::size_t>(shortest_)] : -1;
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

  const formats::CsrView rows_;
  formats::Csr columns_;
  std::int64_t listed_, span_;
  std::vector<std::uint32_t> common_;
  std::vector<std::int32_t> touched_;           // rows with a nonzero counter
  formats::Buffer<std::int64_t> column_start_;  // first row of each column that is not before first_
  std::vector<std::int64_t> column_window_;     // last window that contains each column
  std::int64_t window_ = 0, first_ = 0, end_ = 0;
  std::int64_t entries_ = 0, distinct_ = 0;  // counts of the current window
  std::vector<std::int32_t> by_length_;      // rows by number of nonzeros
  std::vector<std::int64_t> length_start_;   // start of each number of nonzeros in by_length_
  std::vector<std::int64_t> length_next_;    // first possibly free row for each number of nonzeros
  std::int64_t shortest_ = 0, longest_ = 0;  // next index in by_length_; next number of nonzeros
  std::int64_t min_entries_ = std::numeric_limits<std::int32_t>::max();
};

}  // namespace

Result<std::vector<std::int32_t>> order_by_loa(const formats::CsrView& a, const ReorderOptions& options) {
  const auto span = static_cast<std::int64_t>(setting(options, kLoaParameters, "window"));
  const std::vector<std::int32_t> list = by_first_column(a);
  const formats::Csr rows = formats::permute_rows({a.rows, a.cols, a.row_ptr, a.col_idx, {}}, list);
  std::int64_t listed = a.rows;
  while (listed > 0 && rows.view().row_nnz(listed - 1) == 0) --listed;

  begin(options.progress, "fill windows", listed);
  std::vector<std::int32_t> order;
  order.reserve(static_cast<std::size_t>(a.rows));
  WindowFiller filler(rows.view(), listed, span > 0 ? span : listed);
  while (static_cast<std::int64_t>(order.size()) < listed) {
    if (cancelled(options.progress)) return fail(Errc::io, "cancelled");
    filler.fill(options.window_rows, order);
    advance(options.progress, options.window_rows);
  }
  for (std::int64_t r = listed; r < a.rows; ++r) order.push_back(static_cast<std::int32_t>(r));
  for (std::int32_t& row : order) row = list[static_cast<std::size_t>(row)];
  return order;
}

}  // namespace sptile::reorder
