#include "reorder/greedy_windows.hpp"

#include <doctest/doctest.h>
#include <tbb/global_control.h>

#include <algorithm>

#include "formats/csr.hpp"
#include "reorder/candidates.hpp"
#include "reorder/quality.hpp"
#include "tests/reorder/pattern.hpp"

using namespace sptile;
using tests::Pattern;

namespace {

std::vector<std::int32_t> pack(const Pattern& a, const reorder::GreedyOptions& options) {
  const auto order =
      reorder::pack_greedily(reorder::sets_of_rows(a.view(), tests::given_order(a.rows)), options);
  REQUIRE(order.has_value());
  CHECK(formats::check_permutation(*order, a.rows).has_value());
  return *order;
}

/// Rows of 1 .. longest columns.
Pattern without_empty_rows(Pattern a) {
  Pattern full;
  full.cols = a.cols;
  for (std::int64_t r = 0; r < a.rows; ++r) {
    const auto begin = a.col_idx.begin() + a.row_ptr[static_cast<std::size_t>(r)];
    const auto end = a.col_idx.begin() + a.row_ptr[static_cast<std::size_t>(r) + 1];
    if (begin != end) full.add_row({begin, end});
  }
  return full;
}

}  // namespace

TEST_CASE("candidates: the densest and the most shared row agree with a plain search") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    RandomStream random(seed);
    reorder::Candidates candidates;
    candidates.clear();
    CHECK(candidates.densest(10, 5, false) == 0);
    CHECK(candidates.most_shared() == 0);
    struct Row {
      std::int64_t size, common;
      bool there;
    };
    std::vector<Row> rows = {{0, 0, false}, {0, 0, false}};
    for (std::int64_t n = random.below(1200); n > 0; --n) {
      const std::int64_t size = 1 + random.below(40), common = random.below(size + 1);
      const std::int32_t slot = candidates.add(static_cast<std::int32_t>(n), static_cast<std::int32_t>(size));
      for (std::int64_t k = 0; k < common; ++k) candidates.share(slot);
      rows.push_back({size, common, random.below(4) != 0});
      if (!rows.back().there) candidates.remove(slot);
    }
    for (const bool blocks : {false, true}) {
      std::size_t best = 0, shared = 0;
      double most = 0;
      for (std::size_t i = 2; i < rows.size(); ++i) {
        if (!rows[i].there) continue;
        const std::int64_t columns = 30 + rows[i].size - rows[i].common;
        const double density = static_cast<double>(100 + rows[i].size) /
                               static_cast<double>(blocks ? (columns + 7) / 8 * 8 : columns);
        if (best == 0 || density > most * (1 + 1e-7)) best = i, most = density;
        if (rows[i].common > (shared == 0 ? 0 : rows[shared].common)) shared = i;
      }
      CHECK(candidates.densest(100, 30, blocks) == static_cast<std::int32_t>(best));
      CHECK(candidates.most_shared() == static_cast<std::int32_t>(shared));
    }
  }
}

TEST_CASE("greedy windows: groups of equal rows become windows of that height") {
  for (const int height : {3, 8, 16, 64}) {
    CAPTURE(height);
    const Pattern a = tests::planted_groups(300, height, 5, 7);
    const auto order = pack(a, {height});
    CHECK(reorder::measure_windows(a.view(), order, height).distinct_columns == 300 * 5);
  }
}

TEST_CASE("greedy windows: many chains place every row once, alike for any number of threads") {
  // Enough rows for several chains, and columns long enough to be cut.
  const Pattern a = without_empty_rows(tests::random_pattern(30000, 2000, 20, 5));
  std::vector<std::vector<std::int32_t>> orders;
  for (const std::size_t threads : {1, 2, 7}) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    orders.push_back(pack(a, {8, 64, 2000}));
  }
  CHECK(orders[0] == orders[1]);
  CHECK(orders[0] == orders[2]);
  CHECK(reorder::measure_windows(a.view(), orders[0], 8).distinct_columns <
        reorder::measure_windows(a.view(), {}, 8).distinct_columns * 9 / 10);
}

TEST_CASE("greedy windows: a column that every row has, and one row that has every column") {
  Pattern a;
  a.cols = 3000;
  for (std::int32_t r = 0; r < 3000; ++r) a.add_row({0, 1 + r / 8 * 7 % 2999, 1 + (r / 8 * 11 + 5) % 2999});
  std::set<std::int32_t> all;
  for (std::int32_t c = 0; c < 3000; ++c) all.insert(c);
  a.add_row(all);
  // The full row takes seven rows out of one group, whose last row then disturbs another group.
  const auto order = pack(a, {8});
  CHECK(reorder::measure_windows(a.view(), order, 8).distinct_columns <=
        reorder::measure_windows(a.view(), {}, 8).distinct_columns * 12 / 10);
}

TEST_CASE("greedy windows: stops when cancelled") {
  const Pattern a = tests::planted_groups(500, 8, 3, 1);
  Progress progress;
  progress.cancelled = true;
  const auto order = reorder::pack_greedily(reorder::sets_of_rows(a.view(), tests::given_order(a.rows)),
                                            {8, 256, 4096, &progress});
  REQUIRE_FALSE(order.has_value());
  CHECK(order.error().message == "cancelled");
}
