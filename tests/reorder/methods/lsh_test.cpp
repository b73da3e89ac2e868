#include "reorder/methods/lsh.hpp"

#include <doctest/doctest.h>

#include <set>

#include "reorder/quality/quality.hpp"
#include "reorder/similarity/minhash.hpp"
#include "tests/reorder/row_lists.hpp"

using namespace sptile;

namespace {

std::vector<std::int32_t> order_of(const formats::Csr& a, std::vector<reorder::Setting> settings = {}) {
  const auto order = reorder::order_by_lsh(a.view(), {.seed = 5, .settings = settings});
  REQUIRE(order);
  REQUIRE(formats::check_permutation(*order, a.rows));
  return *order;
}

}  // namespace

TEST_CASE("lsh: shuffled groups of equal rows come together, as full tiles") {
  const formats::Csr a = reorder::shuffled_groups(300, 16, 8, 4);
  for (const double groups : {1.0, 128.0}) {
    const auto quality = reorder::measure_quality(a.view(), order_of(a, {{"group-clusters", groups}}));
    CHECK(quality[0].mean_nnz_tc == 64);
    CHECK(quality[1].mean_nnz_tc == 128);
  }
}

TEST_CASE("lsh: groups bring like clusters near") {
  // 40 communities of 4 clusters of 16 equal rows; clusters of a community share 12 of 14 columns.
  reorder::RowLists rows;
  for (const std::int32_t r : random_permutation(40 * 4 * 16, RandomStream(6))) {
    const std::int32_t community = r / 64, cluster = r / 16;
    rows.emplace_back();
    for (std::int32_t c = 0; c < 12; ++c) rows.back().push_back(community * 12 + c);
    for (std::int32_t c = 0; c < 2; ++c) rows.back().push_back(480 + cluster * 2 + c);
  }
  const formats::Csr a = reorder::matrix_of(rows, 480 + 320);
  const auto columns_at_64 = [&](double groups) {
    const auto order = order_of(a, {{"cluster-rows", 16}, {"group-clusters", groups}});
    return reorder::measure_quality(a.view(), order)[3].distinct_columns;
  };
  CHECK(columns_at_64(4) == 40 * (12 + 4 * 2));
  CHECK(columns_at_64(1) >= columns_at_64(4));
}

TEST_CASE("lsh: empty rows come last") {
  const formats::Csr a = reorder::matrix_of({{}, {1}, {}, {1}, {0, 2}}, 3);
  const auto order = order_of(a);
  CHECK(order[3] == 0);
  CHECK(order[4] == 2);
}

TEST_CASE("minhash: partners have their true similarity, and none is below the least asked for") {
  reorder::RowLists rows;
  for (std::uint64_t r = 0; r < 400; ++r) {
    RandomStream random(2, r);
    std::set<std::int32_t> columns;
    for (int i = 0; i < 8; ++i) columns.insert(static_cast<std::int32_t>(random.below(30)));
    rows.emplace_back(columns.begin(), columns.end());
  }
  const formats::Csr a = reorder::matrix_of(rows, 30);
  const auto found = reorder::minhash_partners(a.view(), {.similarity = 0.4});
  REQUIRE(found);
  std::int64_t pairs = 0;
  for (std::int64_t r = 0; r < a.rows; ++r)
    for (const reorder::Neighbour& n : found->of(r)) {
      const auto &x = rows[static_cast<std::size_t>(r)], &y = rows[static_cast<std::size_t>(n.row)];
      std::vector<std::int32_t> common;
      std::ranges::set_intersection(x, y, std::back_inserter(common));
      const auto all = static_cast<float>(x.size() + y.size() - common.size());
      CHECK(n.row != r);
      CHECK(n.similarity == static_cast<float>(common.size()) / all);
      CHECK(n.similarity >= 0.4f);
      ++pairs;
    }
  CHECK(pairs > 200);
}

TEST_CASE("lsh: stops when cancelled") {
  const formats::Csr a = reorder::shuffled_groups(10, 8, 4, 1);
  Progress progress;
  progress.cancelled = true;
  const auto order = reorder::order_by_lsh(a.view(), {.progress = &progress});
  REQUIRE_FALSE(order);
  CHECK(order.error().message == "cancelled");
}
