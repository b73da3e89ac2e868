#include "reorder/methods/auto.hpp"

#include <doctest/doctest.h>

#include "formats/core/csr.hpp"
#include "reorder/methods/degree.hpp"
#include "reorder/quality/quality.hpp"
#include "tests/reorder/pattern.hpp"

using namespace sptile;
using tests::Pattern;

namespace {

std::vector<std::int32_t> choose(const Pattern& a, int height) {
  const auto order = reorder::order_by_trial(a.view(), {.window_rows = height});
  REQUIRE(order.has_value());
  REQUIRE(formats::check_permutation(*order, a.rows).has_value());
  return *order;
}

}  // namespace

TEST_CASE("auto: keeps the original order where nothing is gained") {
  Pattern diagonal, bands;
  diagonal.cols = bands.cols = 400;
  for (std::int32_t r = 0; r < 400; ++r) {
    diagonal.add_row({r});
    bands.add_row({r / 8 * 8, r / 8 * 8 + 3, r / 8 * 8 + 5});
  }
  CHECK(choose(diagonal, 8) == tests::given_order(400));
  CHECK(choose(bands, 8) == tests::given_order(400));
}

TEST_CASE("auto: packs what is shuffled") {
  const Pattern a = tests::planted_groups(100, 16, 9, 5);
  CHECK(reorder::measure_windows(a.view(), choose(a, 16), 16).distinct_columns == 900);
}

TEST_CASE("auto: has no more blocks than the original order and degree order, at any height") {
  for (std::uint64_t seed = 0; seed < 6; ++seed)
    for (const int height : {1, 5, 8, 32}) {
      const Pattern a = tests::random_pattern(500, 150, 10, seed);
      const auto blocks = [&](std::span<const std::int32_t> order) {
        return reorder::measure_windows(a.view(), order, height).tc_blocks;
      };
      const auto order = choose(a, height);
      CHECK(blocks(order) <= blocks({}));
      CHECK(blocks(order) <= blocks(*reorder::order_by_degree(a.view(), {})));
    }
}

TEST_CASE("auto: tells what it compared, and marks the one that it returns") {
  const Pattern a = tests::planted_groups(100, 16, 9, 5);
  std::vector<reorder::TriedOrder> tried;
  const auto order = reorder::order_by_trial(a.view(), {.window_rows = 16, .tried = &tried});
  REQUIRE(order.has_value());
  REQUIRE(tried.size() == 4);
  CHECK(tried[0].tc_blocks == reorder::measure_windows(a.view(), {}, 16).tc_blocks);
  int chosen = 0;
  for (const reorder::TriedOrder& t : tried) {
    CHECK_FALSE(t.name.empty());
    if (!t.chosen) continue;
    ++chosen;
    CHECK(t.tc_blocks == reorder::measure_windows(a.view(), *order, 16).tc_blocks);
  }
  CHECK(chosen == 1);
}
