#include "reorder/packing/matching.hpp"

#include <doctest/doctest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <cmath>

#include "formats/core/csr.hpp"
#include "reorder/quality/quality.hpp"
#include "tests/reorder/pattern.hpp"

using namespace sptile;
using tests::Pattern;

namespace {

std::vector<std::int32_t> columns_of(std::span<const std::int32_t> set) { return {set.begin(), set.end()}; }

std::vector<std::int32_t> union_of(const Pattern& a, std::span<const std::int32_t> rows) {
  std::set<std::int32_t> columns;
  for (const std::int32_t row : rows)
    columns.insert(a.col_idx.begin() + a.row_ptr[static_cast<std::size_t>(row)],
                   a.col_idx.begin() + a.row_ptr[static_cast<std::size_t>(row) + 1]);
  return {columns.begin(), columns.end()};
}

}  // namespace

TEST_CASE("column sets: windows and pairs of windows hold the unions of their rows, lists turn them around") {
  const Pattern a = tests::random_pattern(203, 90, 12, 3);
  const auto order = random_permutation(a.rows, RandomStream(4));
  for (const int height : {1, 3, 8, 16}) {
    const reorder::ColumnSets sets = reorder::sets_of_windows(a.view(), order, height);
    REQUIRE(sets.items == a.rows / height);
    const auto rows = [&](std::int64_t item) {
      return std::span(order).subspan(static_cast<std::size_t>(item * height),
                                      static_cast<std::size_t>(height));
    };
    for (std::int64_t i = 0; i < sets.items; ++i) CHECK(columns_of(sets.of(i)) == union_of(a, rows(i)));
    const std::vector<std::int32_t> pair = {2, 0};
    std::vector<std::int32_t> both(rows(2).begin(), rows(2).end());
    both.insert(both.end(), rows(0).begin(), rows(0).end());
    CHECK(columns_of(reorder::unite_pairs(sets, pair).of(0)) == union_of(a, both));
    const reorder::ColumnLists lists = reorder::lists_of_columns(sets);
    for (std::int64_t c = 0; c < a.cols; ++c) {
      std::vector<std::int32_t> holders;
      for (std::int64_t i = 0; i < sets.items; ++i)
        if (std::ranges::binary_search(sets.of(i), static_cast<std::int32_t>(c)))
          holders.push_back(static_cast<std::int32_t>(i));
      CHECK(columns_of(lists.of(c)) == holders);
    }
  }
}

TEST_CASE("partners: without caps they are the best by weighted Jaccard index of all items") {
  const Pattern a = tests::random_pattern(120, 60, 8, 9);
  const auto sets = reorder::sets_of_rows(a.view(), tests::given_order(a.rows));
  const auto lists = reorder::lists_of_columns(sets);
  const auto weights = reorder::weigh(sets, lists);
  const auto similarity = [&](std::int64_t x, std::int64_t y) {
    double both = 0, either = 0;
    for (std::int32_t c = 0; c < a.cols; ++c) {
      const bool in_x = std::ranges::binary_search(sets.of(x), c),
                 in_y = std::ranges::binary_search(sets.of(y), c);
      both += in_x && in_y ? static_cast<double>(weights.of_column[c]) : 0;
      either += in_x || in_y ? static_cast<double>(weights.of_column[c]) : 0;
    }
    return either > 0 ? both / either : 0;
  };
  reorder::PartnerOptions options;
  options.partners = 1, options.longest_list = 1000, options.item_lookups = 1 << 20;
  const auto pairs = reorder::alike_pairs(sets, lists, weights, {}, options);
  std::vector<double> found(120, 0);
  for (const reorder::Pair& pair : pairs) {
    CHECK(pair.x < pair.y);
    CHECK(static_cast<double>(pair.similarity) == doctest::Approx(similarity(pair.x, pair.y)));
    for (const std::int32_t item : {pair.x, pair.y}) {
      auto& best = found[static_cast<std::size_t>(item)];
      best = std::max(best, static_cast<double>(pair.similarity));
    }
  }
  for (std::int64_t i = 0; i < 120; ++i) {
    double best = 0;
    for (std::int64_t j = 0; j < 120; ++j)
      if (j != i) best = std::max(best, similarity(i, j));
    CHECK(found[static_cast<std::size_t>(i)] == doctest::Approx(best));
  }
}

TEST_CASE("matching: takes the best pair first and leaves nobody who has a free partner") {
  const std::vector<reorder::Pair> pairs = {{0.9f, 1, 2}, {0.8f, 0, 1}, {0.7f, 2, 3}, {0.6f, 0, 3}};
  std::vector<std::int32_t> mate(5, -1);
  CHECK(reorder::match_greedily(pairs, mate) == 2);
  CHECK(mate == std::vector<std::int32_t>{3, 2, 1, 0, -1});
}

TEST_CASE("matching: groups of equal rows are found at every height, odd numbers of items are kept") {
  for (const int group : {2, 8, 64}) {
    CAPTURE(group);
    const Pattern a = tests::planted_groups(101, group, 3, 2);
    const auto order = reorder::match_upwards(a.view(), tests::given_order(a.rows), {});
    REQUIRE(order.has_value());
    CHECK(formats::check_permutation(*order, a.rows).has_value());
    CHECK(reorder::measure_windows(a.view(), *order, group).distinct_columns == 101 * 3);
  }
}

TEST_CASE("matching: windows keep their rows, and a short rest stays last") {
  const Pattern a = tests::random_pattern(1003, 200, 10, 8);
  const auto before = random_permutation(a.rows, RandomStream(1));
  const auto after = reorder::match_upwards(a.view(), before, {8, 1024, 4, {}});
  REQUIRE(after.has_value());
  std::set<std::vector<std::int32_t>> windows;
  for (auto w = before.begin(); before.end() - w >= 8; w += 8) windows.emplace(w, w + 8);
  for (auto w = after->begin(); after->end() - w >= 8; w += 8) CHECK(windows.erase({w, w + 8}) == 1);
  CHECK(windows.empty());
  CHECK(std::equal(before.end() - 3, before.end(), after->end() - 3));
}

TEST_CASE("matching: the same for any number of threads") {
  const Pattern a = tests::random_pattern(6000, 500, 12, 6);
  std::vector<std::vector<std::int32_t>> orders;
  for (const std::size_t threads : {1, 2, 5}) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    orders.push_back(*reorder::match_upwards(a.view(), tests::given_order(a.rows), {}));
  }
  CHECK(orders[0] == orders[1]);
  CHECK(orders[0] == orders[2]);
}
