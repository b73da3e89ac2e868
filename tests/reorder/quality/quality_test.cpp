#include "reorder/quality/quality.hpp"

#include <doctest/doctest.h>
#include <oneapi/tbb/global_control.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

#include "tests/reorder/random_pattern.hpp"

using namespace sptile;
using reorder::Pattern;
using reorder::random_pattern;

namespace {

// The definition, spelled out.
reorder::WindowQuality obvious(const Pattern& a, const std::vector<std::int32_t>& order, int height) {
  reorder::WindowQuality q{height, 0, 0, 0, 0};
  std::int64_t singles = 0;
  for (std::int64_t first = 0; first < a.rows; first += height) {
    std::map<std::int32_t, int> columns;
    for (std::int64_t i = first; i < std::min<std::int64_t>(a.rows, first + height); ++i) {
      const auto r = static_cast<std::size_t>(order[static_cast<std::size_t>(i)]);
      for (auto k = a.row_ptr[r]; k < a.row_ptr[r + 1]; ++k)
        ++columns[a.col_idx[static_cast<std::size_t>(k)]];
    }
    const auto distinct = static_cast<std::int64_t>(columns.size());
    q.distinct_columns += distinct;
    q.tc_blocks += (distinct + 7) / 8;
    singles += std::count_if(columns.begin(), columns.end(), [](const auto& c) { return c.second == 1; });
  }
  if (q.tc_blocks > 0)
    q.mean_nnz_tc = static_cast<double>(a.col_idx.size()) / static_cast<double>(q.tc_blocks);
  if (q.distinct_columns > 0)
    q.nnz1_ratio = static_cast<double>(singles) / static_cast<double>(q.distinct_columns);
  return q;
}

void compare(const Pattern& a, const std::vector<std::int32_t>& order,
             const std::vector<reorder::WindowQuality>& found) {
  REQUIRE(found.size() == std::size(reorder::kQualityHeights));
  for (const reorder::WindowQuality& q : found) {
    CAPTURE(q.window_rows);
    const reorder::WindowQuality expected = obvious(a, order, q.window_rows);
    CHECK(q.distinct_columns == expected.distinct_columns);
    CHECK(q.tc_blocks == expected.tc_blocks);
    CHECK(q.mean_nnz_tc == expected.mean_nnz_tc);
    CHECK(q.nnz1_ratio == expected.nnz1_ratio);
  }
}

}  // namespace

TEST_CASE("quality: agrees with the definition, in the original order and in another") {
  for (const auto& [rows, cols, density] :
       {std::tuple{1, 1, 1.0}, {7, 300, 0.1}, {129, 64, 0.02}, {1000, 50, 0.3}, {5000, 700, 0.004}}) {
    const auto row_count = rows;
    CAPTURE(row_count);
    const Pattern a = random_pattern(rows, cols, density, 11);
    std::vector<std::int32_t> order(static_cast<std::size_t>(rows));
    std::iota(order.begin(), order.end(), 0);
    compare(a, order, reorder::measure_quality(a.view()));
    std::shuffle(order.begin(), order.end(), std::mt19937(3));
    compare(a, order, reorder::measure_quality(a.view(), order));
  }
}

TEST_CASE("quality: any height counts, also a single row and more rows than there are") {
  const Pattern a = random_pattern(50, 40, 0.1, 2);
  std::vector<std::int32_t> order(50);
  std::iota(order.begin(), order.end(), 0);
  for (const int height : {1, 3, 50, 1024}) {
    CAPTURE(height);
    const reorder::WindowQuality q = reorder::measure_windows(a.view(), order, height);
    CHECK(q.window_rows == height);
    CHECK(q.distinct_columns == obvious(a, order, height).distinct_columns);
    CHECK(q.nnz1_ratio == obvious(a, order, height).nnz1_ratio);
  }
}

TEST_CASE("quality: blocks of two heights at once are those of each") {
  for (const auto& [rows, cols, density] :
       {std::tuple{1, 1, 1.0}, {17, 300, 0.1}, {129, 64, 0.02}, {5000, 700, 0.004}, {9, 0, 0.0}}) {
    const Pattern a = random_pattern(rows, cols, density, 4);
    std::vector<std::int32_t> order(static_cast<std::size_t>(rows));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::mt19937(9));
    for (const int height : {1, 3, 8, 16, 10000}) {
      CAPTURE(height);
      const reorder::BlockCounts counts = reorder::count_blocks(a.view(), order, height);
      CHECK(counts.blocks == reorder::measure_windows(a.view(), order, height).tc_blocks);
      CHECK(counts.twice == reorder::measure_windows(a.view(), order, 2 * height).tc_blocks);
      CHECK(reorder::count_blocks(a.view(), {}, height).blocks ==
            reorder::measure_windows(a.view(), {}, height).tc_blocks);
    }
  }
}

TEST_CASE("quality: a matrix without rows, columns or entries has no blocks") {
  for (const Pattern& a : {random_pattern(0, 0, 0, 1), random_pattern(0, 9, 0, 1),
                           random_pattern(20, 0, 0, 1), random_pattern(20, 9, 0, 1)})
    for (const reorder::WindowQuality& q : reorder::measure_quality(a.view())) {
      CHECK(q.tc_blocks == 0);
      CHECK(q.mean_nnz_tc == 0);
      CHECK(q.nnz1_ratio == 0);
    }
}

TEST_CASE("quality: is the same for one thread and for two") {
  const Pattern a = random_pattern(20000, 400, 0.02, 5);
  const auto with_threads = [&](std::size_t threads) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    return reorder::measure_quality(a.view());
  };
  const auto one = with_threads(1), two = with_threads(2);
  for (std::size_t i = 0; i < one.size(); ++i) {
    CHECK(one[i].distinct_columns == two[i].distinct_columns);
    CHECK(one[i].tc_blocks == two[i].tc_blocks);
    CHECK(one[i].nnz1_ratio == two[i].nnz1_ratio);
  }
}
