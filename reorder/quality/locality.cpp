#include "reorder/quality/locality.hpp"

#include <tbb/blocked_range.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <vector>

#include "formats/core/compact_columns.hpp"
#include "formats/core/count_columns.hpp"
#include "formats/core/parallel_loop.hpp"
#include "formats/core/parallel_reduce.hpp"
#include "reorder/quality/quality.hpp"

namespace sptile::reorder {
namespace {

using Range = tbb::blocked_range<std::int64_t>;
using Row = std::span<const std::int32_t>;

// Rows indexed by position in the order.
class OrderedRows {
 public:
  OrderedRows(const formats::CsrView& a, std::span<const std::int32_t> order) : a_(a), order_(order) {}

  [[nodiscard]] Row operator[](std::int64_t i) const {
    const auto r = static_cast<std::size_t>(order_.empty() ? i : order_[static_cast<std::size_t>(i)]);
    return a_.col_idx.subspan(static_cast<std::size_t>(a_.row_ptr[r]),
                              static_cast<std::size_t>(a_.row_ptr[r + 1] - a_.row_ptr[r]));
  }

 private:
  const formats::CsrView& a_;
  std::span<const std::int32_t> order_;
};

// Returns d^-alpha for each column with d nonzeros.
std::vector<float> column_weights(const formats::CsrView& a) {
  const std::vector<std::int32_t> count = formats::count_columns(a);
  std::vector<float> weights(count.size(), 0);
  parallel::loop(std::size_t{0}, count.size(), [&](std::size_t c) {
    if (count[c] > 0)
      weights[c] = static_cast<float>(std::pow(static_cast<double>(count[c]), -kJaccardAlpha));
  });
  return weights;
}

// Returns 1 - sim of two rows with ascending columns.
double dissimilarity(Row x, Row y, const std::vector<float>& weights) {
  const auto weight = [&](std::int32_t column) {
    return static_cast<double>(weights[static_cast<std::size_t>(column)]);
  };
  double common = 0, either = 0;
  std::size_t i = 0, j = 0;
  while (i < x.size() && j < y.size()) {
    const std::int32_t column = std::min(x[i], y[j]);
    const bool in_x = x[i] == column, in_y = y[j] == column;
    either += weight(column);
    if (in_x && in_y) common += weight(column);
    i += in_x;
    j += in_y;
  }
  for (; i < x.size(); ++i) either += weight(x[i]);
  for (; j < y.size(); ++j) either += weight(y[j]);
  return either > 0 ? 1 - common / either : 0;
}

double jaccard_cost(const formats::CsrView& a, const OrderedRows& rows) {
  const std::vector<float> weights = column_weights(a);
  // Floating-point sums depend on how the range is split, so the split depends only on the rows.
  return parallel::deterministic_reduce(
      Range(0, std::max<std::int64_t>(a.rows - 1, 0), 1024), 0.0,
      [&](const Range& range, double sum) {
        for (std::int64_t i = range.begin(); i < range.end(); ++i)
          sum += dissimilarity(rows[i], rows[i + 1], weights);
        return sum;
      },
      std::plus<>());
}

std::int64_t bandwidth(const formats::CsrView& a, const OrderedRows& rows,
                       std::span<const std::int32_t> order) {
  std::vector<std::int32_t> place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    place[static_cast<std::size_t>(order[i])] = static_cast<std::int32_t>(i);
  return parallel::reduce(
      Range(0, a.rows, 1024), std::int64_t{0},
      [&](const Range& range, std::int64_t widest) {
        for (std::int64_t i = range.begin(); i < range.end(); ++i)
          for (const std::int32_t column : rows[i]) {
            const std::int64_t j = place.empty() ? column : place[static_cast<std::size_t>(column)];
            widest = std::max(widest, std::abs(i - j));
          }
        return widest;
      },
      [](std::int64_t x, std::int64_t y) { return std::max(x, y); });
}

}  // namespace

OrderLocality measure_locality(const formats::CsrView& matrix, std::span<const std::int32_t> new_to_old) {
  const formats::CompactColumns columns_in_use(matrix);
  const formats::CsrView& a = columns_in_use.view();
  assert(new_to_old.empty() || static_cast<std::int64_t>(new_to_old.size()) == a.rows);
  const OrderedRows rows(a, new_to_old);
  OrderLocality locality;
  locality.jaccard_cost = jaccard_cost(a, rows);
  if (a.rows == a.cols) locality.bandwidth = bandwidth(a, rows, new_to_old);
  const std::int64_t stretches = (a.rows + kWorkingSetRows - 1) / kWorkingSetRows;
  const std::int64_t columns = measure_windows(a, new_to_old, kWorkingSetRows).distinct_columns;
  if (stretches > 0)
    locality.working_set_columns = static_cast<double>(columns) / static_cast<double>(stretches);
  return locality;
}

}  // namespace sptile::reorder
