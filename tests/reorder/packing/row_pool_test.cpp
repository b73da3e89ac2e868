#include "reorder/packing/row_pool.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "tests/reorder/pattern.hpp"

using namespace sptile;

namespace {

/// The columns of `row` that the window lacks, counted one by one.
std::int64_t missing(const tests::Pattern& a, std::int32_t row, const std::set<std::int32_t>& window) {
  const auto first = a.col_idx.begin() + a.row_ptr[static_cast<std::size_t>(row)];
  const auto last = a.col_idx.begin() + a.row_ptr[static_cast<std::size_t>(row) + 1];
  return std::count_if(first, last, [&](std::int32_t column) { return !window.contains(column); });
}

}  // namespace

TEST_CASE("row pool: rows come out as a plain count of their columns says, from refilled pools too") {
  const tests::Pattern a = tests::random_pattern(600, 200, 30, 3);
  const auto view = a.view();
  const auto columns = [&](std::int32_t row) {
    return view.col_idx.subspan(static_cast<std::size_t>(view.row_ptr[static_cast<std::size_t>(row)]),
                                static_cast<std::size_t>(view.row_nnz(row)));
  };
  reorder::RowPool pool(a.cols);
  CHECK(pool.take_densest(0, 0, false) == -1);
  RandomStream random(5);
  for (int round = 0; round < 100; ++round) {
    pool.start_window();
    std::set<std::int32_t> window;
    std::int64_t entries = 0;
    const auto enter = [&](std::int32_t row) {
      for (const std::int32_t column : columns(row))
        CHECK(pool.enter(column) == window.insert(column).second);
      entries += view.row_nnz(row);
    };
    enter(static_cast<std::int32_t>(random.below(a.rows)));
    for (int refill = 0; refill < 2; ++refill) {
      pool.clear();
      std::vector<std::int32_t> rows;
      for (std::int64_t n = 1 + random.below(reorder::RowPool::kMax); n > 0; --n)
        rows.push_back(static_cast<std::int32_t>(random.below(a.rows)));
      for (const std::int32_t row : rows) pool.add(row, columns(row));
      for (const bool blocks : {false, true}) {
        const auto density = [&](std::int32_t row) {
          const auto after = static_cast<std::int64_t>(window.size()) + missing(a, row, window);
          return static_cast<double>(entries + view.row_nnz(row)) /
                 static_cast<double>(blocks ? (after + 7) / 8 * 8 : std::max<std::int64_t>(1, after));
        };
        const auto best = std::max_element(rows.begin(), rows.end(), [&](std::int32_t x, std::int32_t y) {
          return density(x) < density(y);
        });
        if (best == rows.end()) continue;
        const auto shared = [&](std::int32_t row) { return view.row_nnz(row) - missing(a, row, window); };
        const auto max = std::max_element(
            rows.begin(), rows.end(), [&](std::int32_t x, std::int32_t y) { return shared(x) < shared(y); });
        CHECK(pool.most_shared() == (shared(*max) > 0 ? *max : -1));
        const std::int32_t row = *best;
        CHECK(pool.take_densest(entries, static_cast<std::int64_t>(window.size()), blocks) == row);
        rows.erase(best);
        enter(row);
      }
    }
  }
}
