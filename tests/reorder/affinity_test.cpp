#include "reorder/affinity.hpp"

#include <doctest/doctest.h>

#include <set>

#include "reorder/common_neighbours.hpp"
#include "reorder/quality.hpp"
#include "tests/reorder/pattern.hpp"

namespace {

using namespace sptile;
using tests::Pattern;

std::vector<std::int32_t> order_rows(const Pattern& a) {
  const auto order = reorder::order_by_affinity(a.view(), {});
  REQUIRE(order.has_value());
  return *order;
}

std::int64_t shared(const Pattern& a, std::int32_t x, std::int32_t y) {
  const auto row = [&](std::int32_t r) {
    return std::set<std::int32_t>(a.col_idx.begin() + a.row_ptr[static_cast<std::size_t>(r)],
                                  a.col_idx.begin() + a.row_ptr[static_cast<std::size_t>(r) + 1]);
  };
  std::int64_t count = 0;
  for (const std::int32_t c : row(x)) count += row(y).count(c) != 0;
  return count;
}

}  // namespace

TEST_CASE("common neighbours: the rows that share most columns, where nothing is cut short") {
  const Pattern a = tests::random_pattern(120, 50, 8, 7);
  const auto rows = tests::given_order(a.rows), columns = tests::given_order(a.cols);
  const reorder::PlacedMatrix placed = reorder::place(a.view(), rows, columns);
  reorder::CommonNeighbours counter(placed);
  for (std::int32_t row = 0; row < a.rows; ++row) {
    CAPTURE(row);
    std::vector<std::int32_t> best(5);
    const std::size_t found = counter.find(row, best, [](std::int32_t) { return true; });
    std::vector<std::int64_t> counts;
    for (std::int32_t other = 0; other < a.rows; ++other)
      if (other != row && shared(a, row, other) > 0) counts.push_back(shared(a, row, other));
    std::sort(counts.rbegin(), counts.rend());
    REQUIRE(found == std::min<std::size_t>(5, counts.size()));
    for (std::size_t i = 0; i < found; ++i) CHECK(shared(a, row, best[i]) == counts[i]);
  }
}

TEST_CASE("common neighbours: twins are found among long columns, and exactly counted") {
  // Every column is in hundreds of rows, far more than are looked at.
  Pattern a;
  a.cols = 64;
  for (std::uint64_t pair = 0; pair < 1500; ++pair) {
    RandomStream random(11, pair);
    std::set<std::int32_t> columns;
    while (columns.size() < 24) columns.insert(static_cast<std::int32_t>(random.below(64)));
    a.add_row(columns);
    a.add_row(columns);
  }
  const auto rows = tests::given_order(a.rows), columns = tests::given_order(a.cols);
  const reorder::PlacedMatrix placed = reorder::place(a.view(), rows, columns);
  reorder::CommonNeighbours counter(placed);
  for (std::int32_t row = 0; row < a.rows; ++row) {
    std::int32_t best = -1;
    REQUIRE(counter.find(row, {&best, 1}, [](std::int32_t) { return true; }) == 1);
    CHECK(shared(a, row, best) == 24);
  }
}

TEST_CASE("affinity: each row is followed by a free row that shares most columns with it") {
  const Pattern a = tests::random_pattern(150, 40, 6, 5);
  const auto order = order_rows(a);
  std::set<std::int32_t> free(order.begin(), order.end());
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    free.erase(order[i]);
    std::int64_t most = 0;
    for (const std::int32_t other : free) most = std::max(most, shared(a, order[i], other));
    CHECK(shared(a, order[i], order[i + 1]) >= most);
  }
}

TEST_CASE("affinity: shuffled groups of equal rows come together, as full tiles") {
  const Pattern a = tests::planted_groups(60, 8, 6, 5);
  CHECK(reorder::measure_windows(a.view(), order_rows(a), 8).distinct_columns == 60 * 6);
}

TEST_CASE("affinity: stops when cancelled") {
  Progress progress;
  progress.cancelled = true;
  reorder::ReorderOptions options;
  options.progress = &progress;
  const Pattern a = tests::random_pattern(500, 90, 7, 3);
  const auto order = reorder::order_by_affinity(a.view(), options);
  REQUIRE_FALSE(order.has_value());
  CHECK(order.error().message == "cancelled");
}
