#include "reorder/packing/swaps.hpp"

#include <doctest/doctest.h>
#include <tbb/global_control.h>

#include <algorithm>

#include "formats/core/csr.hpp"
#include "reorder/packing/window_pair.hpp"
#include "reorder/quality/quality.hpp"
#include "tests/reorder/pattern.hpp"

using namespace sptile;
using tests::Pattern;
using Rows = std::vector<std::int32_t>;

namespace {

std::int64_t cost(const Pattern& a, const Rows& x, const Rows& y) {
  const auto of = [&](const Rows& rows) {
    const std::int64_t distinct = tests::distinct_columns(a, rows);
    return (distinct + 7) / 8 * 8 + distinct;
  };
  return of(x) + of(y);
}

}  // namespace

TEST_CASE("window pair: each swap is the best one, and none is left") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    const Pattern a = tests::random_pattern(16, 30, 10, seed);
    Rows x = tests::given_order(8), y = x, expected_x, expected_y;
    for (std::int32_t& row : y) row += 8;
    expected_x = x, expected_y = y;
    int swaps = 0;
    for (bool better = true; better && swaps < 8;) {
      std::int64_t best = cost(a, expected_x, expected_y);
      Rows best_x, best_y;
      for (std::size_t i = 0; i < 8; ++i)
        for (std::size_t j = 0; j < 8; ++j) {
          Rows u = expected_x, v = expected_y;
          std::swap(u[i], v[j]);
          if (cost(a, u, v) < best) best = cost(a, u, v), best_x = u, best_y = v;
        }
      better = !best_x.empty();
      if (better) expected_x = best_x, expected_y = best_y, ++swaps;
    }
    reorder::WindowPair pair(a.view());
    CHECK(pair.improve(x, y) == swaps);
    CHECK(x == expected_x);
    CHECK(y == expected_y);
  }
}

TEST_CASE("swaps: bring rows home that stand in the wrong window") {
  const Pattern a = tests::planted_groups(64, 8, 6, 3);
  // Groups in their places, but for one row of each, which stands in the next group's window.
  Rows order(512);
  for (std::int32_t r = 0; r < 512; ++r) {
    const std::int32_t group =
        a.col_idx[static_cast<std::size_t>(a.row_ptr[static_cast<std::size_t>(r)])] / 6;
    auto place = static_cast<std::size_t>(group) * 8;
    while (order[place] != 0) ++place;
    order[place] = r + 1;
  }
  for (std::int32_t& row : order) --row;
  for (std::size_t w = 0; w + 1 < 64; w += 2) std::swap(order[8 * w + 3], order[8 * w + 11]);
  CHECK(reorder::measure_windows(a.view(), order, 8).distinct_columns == 64 * 12);
  REQUIRE(reorder::swap_rows(a.view(), order, {}).has_value());
  CHECK(formats::check_permutation(order, 512).has_value());
  CHECK(reorder::measure_windows(a.view(), order, 8).distinct_columns == 64 * 6);
}

TEST_CASE("swaps: never make an order worse, and do the same with any number of threads") {
  const Pattern a = tests::random_pattern(4003, 300, 12, 12);
  for (const int height : {1, 8, 24, 64}) {
    CAPTURE(height);
    std::vector<Rows> orders;
    for (const std::size_t threads : {1, 2, 5}) {
      const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
      orders.push_back(tests::given_order(a.rows));
      REQUIRE(reorder::swap_rows(a.view(), orders.back(), {height, 2, {}}).has_value());
    }
    CHECK(orders[0] == orders[1]);
    CHECK(orders[0] == orders[2]);
    CHECK(formats::check_permutation(orders[0], a.rows).has_value());
    const auto before = reorder::measure_windows(a.view(), {}, height);
    const auto after = reorder::measure_windows(a.view(), orders[0], height);
    CHECK(8 * after.tc_blocks + after.distinct_columns <= 8 * before.tc_blocks + before.distinct_columns);
    if (height == 8) CHECK(after.tc_blocks < before.tc_blocks);
  }
}
