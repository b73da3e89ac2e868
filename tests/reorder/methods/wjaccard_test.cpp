#include "reorder/methods/wjaccard.hpp"

#include <doctest/doctest.h>

#include <numeric>

#include "reorder/quality/quality.hpp"
#include "reorder/similarity/nearest_rows.hpp"
#include "tests/reorder/row_lists.hpp"

using namespace sptile;

namespace {

std::vector<std::int32_t> order_of(const formats::Csr& a, std::vector<reorder::Setting> settings = {}) {
  const auto order = reorder::order_by_weighted_jaccard(a.view(), {.settings = settings});
  REQUIRE(order);
  REQUIRE(formats::check_permutation(*order, a.rows));
  return *order;
}

double tile_entries(const formats::Csr& a, const std::vector<std::int32_t>& order) {
  return reorder::measure_quality(a.view(), order)[0].mean_nnz_tc;
}

}  // namespace

TEST_CASE("wjaccard: shuffled groups of equal rows come together, as full tiles") {
  const formats::Csr a = reorder::shuffled_groups(500, 8, 8, 3);
  CHECK(tile_entries(a, order_of(a)) == 64);
}

TEST_CASE("wjaccard: a shuffled band becomes a path of neighbours") {
  reorder::RowLists rows;
  for (const std::int32_t r : random_permutation(4000, RandomStream(8))) {
    rows.emplace_back(9);
    std::iota(rows.back().begin(), rows.back().end(), r);
  }
  const formats::Csr a = reorder::matrix_of(rows, 4008);
  std::vector<std::int32_t> sorted(4000);
  std::iota(sorted.begin(), sorted.end(), 0);
  std::ranges::sort(sorted, {}, [&](std::int32_t r) { return rows[static_cast<std::size_t>(r)][0]; });
  CHECK(tile_entries(a, order_of(a)) > 0.9 * tile_entries(a, sorted));
}

TEST_CASE("wjaccard: rare columns decide, alpha 0 lets frequent ones") {
  // Row 0 shares columns 0 and 1 with row 1 and the rare column 2 with row 2; fillers make 0 and 1 frequent.
  reorder::RowLists rows = {{0, 1, 2}, {0, 1, 3}, {2, 4}};
  for (std::int32_t i = 0; i < 60; ++i) rows.push_back({0, 1, 5 + i});
  const formats::Csr a = reorder::matrix_of(rows, 65);
  const auto nearest = [&](double alpha) {
    const auto found = reorder::nearest_rows(a.view(), reorder::jaccard_weights(a.view(), alpha), {});
    REQUIRE(found);
    return found->of(0)[0].row;
  };
  CHECK(nearest(0) == 1);
  CHECK(nearest(1.0) == 2);
}

TEST_CASE("wjaccard: rows that share nothing follow the others, empty rows come last") {
  const formats::Csr a = reorder::matrix_of({{}, {7}, {1, 2}, {}, {1, 2}, {6}, {2}}, 8);
  const auto order = order_of(a);
  CHECK(std::vector<std::int32_t>(order.begin() + 3, order.end()) == std::vector<std::int32_t>{1, 5, 0, 3});
}

TEST_CASE("wjaccard: isolated rows follow their nearest row that stays, or go to the tail") {
  // The path is 0, 1, 2, 3. Row 1 is the nearest row of all others, and row 3 is its nearest row.
  const formats::Csr a =
      reorder::matrix_of({{0}, {0, 1, 2, 3, 4, 5, 6, 7}, {1, 2}, {3, 4, 5, 6}, {8}, {}}, 9);
  const auto with = [&](double isolation) {
    return order_of(a, {{"alpha", 0}, {"stretch", 0}, {"neighbours", 1}, {"isolation", isolation}});
  };
  CHECK(with(0) == std::vector<std::int32_t>{0, 1, 2, 3, 4, 5});
  // Row 3 shares no column with row 2. Row 1 is similar enough to row 2, and stays.
  CHECK(with(2.5) == std::vector<std::int32_t>{0, 1, 3, 2, 4, 5});
  // Rows 1 and 3 are both isolated, so neither has a row to follow.
  CHECK(with(1.5) == std::vector<std::int32_t>{0, 2, 1, 3, 4, 5});
}

TEST_CASE("wjaccard: hub columns and a dense row do not hide twins") {
  const std::int32_t pairs = 3000;
  reorder::RowLists rows(1);
  for (std::int32_t c = 0; c < pairs + 4; ++c) rows[0].push_back(c);
  for (std::int32_t i = 0; i < 2 * pairs; ++i) rows.push_back({0, 1, 2, 3, 4 + i % pairs});
  const formats::Csr a = reorder::matrix_of(rows, pairs + 4);
  const auto order = order_of(a, {{"list-rows", 4}, {"visits", 16}});
  std::vector<std::int64_t> place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    place[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  std::int64_t near = 0;
  for (std::size_t i = 1; i <= static_cast<std::size_t>(pairs); ++i)
    near += std::abs(place[i] - place[i + static_cast<std::size_t>(pairs)]) <= 2;
  CHECK(near > pairs * 9 / 10);
}

TEST_CASE("wjaccard: stops when cancelled") {
  const formats::Csr a = reorder::shuffled_groups(10, 8, 4, 1);
  Progress progress;
  progress.cancelled = true;
  const auto order = reorder::order_by_weighted_jaccard(a.view(), {.progress = &progress});
  REQUIRE_FALSE(order);
  CHECK(order.error().code == Errc::io);
}
