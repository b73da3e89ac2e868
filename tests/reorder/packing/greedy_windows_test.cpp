#include "reorder/packing/greedy_windows.hpp"

#include <doctest/doctest.h>
#include <tbb/global_control.h>

#include <algorithm>

#include "formats/core/csr.hpp"
#include "reorder/packing/candidates.hpp"
#include "reorder/quality/quality.hpp"
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

TEST_CASE("candidates: the densest, the promising and the most shared rows agree with a plain search") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    RandomStream random(seed);
    const auto count = static_cast<std::size_t>(random.below(1200));
    std::vector<std::int32_t> size(count);
    for (std::int32_t& s : size) s = static_cast<std::int32_t>(random.below(40));  // 0: gone
    reorder::Candidates candidates(static_cast<std::int64_t>(count));
    std::vector<std::int32_t> common(count);
    for (int window = 0; window < 3; ++window) {
      candidates.clear();
      CHECK(candidates.densest(10, 5, false) == reorder::Candidates::kNoRow);
      CHECK(candidates.most_shared() == reorder::Candidates::kNoRow);
      // Rows are met in ascending order: of equals the first row wins.
      for (std::int32_t& c : common) c = 0;
      for (std::int32_t round = 1; round < 40; ++round) {
        std::vector<std::int32_t> rows;
        for (std::size_t r = 0; r < count; ++r)
          if (size[r] >= round && (round == 1 || random.below(3) != 0))
            rows.push_back(static_cast<std::int32_t>(r));
        for (const std::int32_t row : rows) ++common[static_cast<std::size_t>(row)];
        candidates.share(rows, size);
      }
      for (std::size_t r = 0; r < count; ++r)
        if (size[r] > 0 && random.below(8) == 0) {
          candidates.remove(static_cast<std::int32_t>(r));
          size[r] = 0;
        }
      const auto density = [&](std::size_t r, bool blocks) {
        const std::int64_t columns = 30 + size[r] - common[r];
        return static_cast<double>(100 + size[r]) /
               static_cast<double>(blocks ? (columns + 7) / 8 * 8 : columns);
      };
      for (const bool blocks : {false, true}) {
        std::int32_t best = -1, shared = -1;
        double max = 0;
        for (std::size_t r = 0; r < count; ++r) {
          if (size[r] == 0) continue;
          if (best < 0 || density(r, blocks) > max * (1 + 1e-7))
            best = static_cast<std::int32_t>(r), max = density(r, blocks);
          if (shared < 0 || common[r] > common[static_cast<std::size_t>(shared)])
            shared = static_cast<std::int32_t>(r);
        }
        CHECK(candidates.densest(100, 30, blocks) == best);
        CHECK(candidates.most_shared() == shared);
      }
      std::vector<std::int32_t> promising;
      candidates.promising(20, 100, 30, 1.0f, promising);
      std::vector<std::int32_t> expected;
      for (std::size_t r = 0; r < count; ++r)
        if (size[r] > 0) expected.push_back(static_cast<std::int32_t>(r));
      std::stable_sort(expected.begin(), expected.end(), [&](std::int32_t x, std::int32_t y) {
        return density(static_cast<std::size_t>(x), false) >
               density(static_cast<std::size_t>(y), false) * (1 + 1e-9);
      });
      expected.resize(std::min<std::size_t>(20, expected.size()));
      CHECK(promising == expected);
    }
  }
}

TEST_CASE("greedy windows: groups of equal rows become windows of that height") {
  for (const int height : {3, 8, 16, 64}) {
    CAPTURE(height);
    const Pattern a = tests::planted_groups(300, height, 5, 7);
    const auto order = pack(a, {{height}});
    CHECK(reorder::measure_windows(a.view(), order, height).distinct_columns == 300 * 5);
  }
}

TEST_CASE("greedy windows: many chains place every row once, alike for any number of threads") {
  // Enough rows for several chains, and columns long enough to be cut.
  const Pattern a = without_empty_rows(tests::random_pattern(30000, 2000, 20, 5));
  std::vector<std::vector<std::int32_t>> orders;
  for (const std::size_t threads : {1, 2, 7}) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    orders.push_back(pack(a, {{8, 64, 2}}));
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
  const auto order = pack(a, {{8}});
  CHECK(reorder::measure_windows(a.view(), order, 8).distinct_columns <=
        reorder::measure_windows(a.view(), {}, 8).distinct_columns * 12 / 10);
}

TEST_CASE("greedy windows: hubs cost no more steps per entry than other rows") {
  // Stars: every row has a column of its own and some of a few that thousands of rows have.
  const auto steps_per_entry = [](std::int64_t rows, int height) {
    Pattern a;
    a.cols = rows + 20;
    for (std::int64_t r = 0; r < rows; ++r) {
      RandomStream random(31, static_cast<std::uint64_t>(r));
      std::set<std::int32_t> columns = {static_cast<std::int32_t>(20 + r)};
      const std::int64_t degree = 1 + rows / (1 + random.below(rows));
      for (std::int64_t k = 0; k < degree; ++k) {
        const std::int64_t hubs = degree > 20 ? rows : 20;
        columns.insert(static_cast<std::int32_t>(random.below(1 + random.below(hubs))));
      }
      a.add_row(columns);
    }
    reorder::GreedyWork work;
    const auto order = reorder::pack_greedily(reorder::sets_of_rows(a.view(), tests::given_order(a.rows)),
                                              {.rules = {.window_rows = height}, .progress = nullptr}, &work);
    REQUIRE(order.has_value());
    return static_cast<double>(work.lookups + work.pooled) / static_cast<double>(a.col_idx.size());
  };
  for (const int height : {8, 16, 64}) {
    const double few = steps_per_entry(3000, height), many = steps_per_entry(48000, height);
    CAPTURE(height);
    CHECK(few < 32);
    CHECK(many < 32);
  }
}

TEST_CASE("greedy windows: stops when cancelled") {
  const Pattern a = tests::planted_groups(500, 8, 3, 1);
  Progress progress;
  progress.cancelled = true;
  const auto order = reorder::pack_greedily(reorder::sets_of_rows(a.view(), tests::given_order(a.rows)),
                                            {.rules = {}, .progress = &progress});
  REQUIRE_FALSE(order.has_value());
  CHECK(order.error().message == "cancelled");
}
