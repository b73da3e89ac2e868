#include "reorder/similarity/nearest_rows.hpp"

#include <doctest/doctest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tests/reorder/row_lists.hpp"

using namespace sptile;

namespace {

using Rows = reorder::RowLists;
using reorder::matrix_of;

/// Low columns are frequent, high ones rare; every tenth row is empty.
Rows skewed_rows(std::size_t count, std::int64_t cols) {
  Rows rows(count);
  for (std::size_t r = 0; r < count; ++r) {
    if (r % 10 == 9) continue;
    RandomStream random(5, r);
    std::set<std::int32_t> columns;
    for (std::int64_t i = 1 + random.below(12); i > 0; --i) {
      const double x = random.uniform();
      columns.insert(static_cast<std::int32_t>(x * x * static_cast<double>(cols)));
    }
    rows[r].assign(columns.begin(), columns.end());
  }
  return rows;
}

/// Straight from the definition.
double similarity(const Rows& rows, std::size_t r, std::size_t u, double alpha) {
  const auto degree = [&](std::int32_t c) {
    return std::ranges::count_if(rows, [&](const auto& row) { return std::ranges::count(row, c) > 0; });
  };
  std::set<std::int32_t> either(rows[r].begin(), rows[r].end());
  either.insert(rows[u].begin(), rows[u].end());
  double common = 0, all = 0;
  for (const std::int32_t c : either) {
    const double weight = std::pow(static_cast<double>(degree(c)), -alpha);
    all += weight;
    if (std::ranges::count(rows[r], c) > 0 && std::ranges::count(rows[u], c) > 0) common += weight;
  }
  return all > 0 ? common / all : 0;
}

reorder::NearestRows nearest_of(const formats::Csr& a, double alpha, const reorder::NearestOptions& options) {
  auto nearest = reorder::nearest_rows(a.view(), reorder::jaccard_weights(a.view(), alpha), options);
  REQUIRE(nearest);
  return std::move(*nearest);
}

bool same(std::span<const reorder::Neighbour> x, std::span<const reorder::Neighbour> y) {
  return std::ranges::equal(
      x, y, [](const auto& p, const auto& q) { return p.row == q.row && p.similarity == q.similarity; });
}

}  // namespace

TEST_CASE("nearest rows: without caps at work they are those of a comparison of all pairs") {
  const Rows rows = skewed_rows(60, 40);
  const formats::Csr a = matrix_of(rows, 40);
  for (const double alpha : {0.0, 0.5, 1.5}) {
    const reorder::NearestRows nearest = nearest_of(a, alpha, {.neighbours = 4});
    for (std::size_t r = 0; r < rows.size(); ++r) {
      std::vector<double> expected;
      for (std::size_t u = 0; u < rows.size(); ++u)
        if (const double s = similarity(rows, r, u, alpha); u != r && s > 0) expected.push_back(s);
      std::ranges::sort(expected, std::greater{});
      expected.resize(std::min<std::size_t>(expected.size(), 4));
      const auto found = nearest.of(static_cast<std::int64_t>(r));
      REQUIRE(found.size() == expected.size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        CHECK(static_cast<double>(found[i].similarity) == doctest::Approx(expected[i]).epsilon(1e-5));
        CHECK(similarity(rows, r, static_cast<std::size_t>(found[i].row), alpha) ==
              doctest::Approx(expected[i]).epsilon(1e-5));
      }
    }
  }
}

TEST_CASE("nearest rows: equal rows are found, the lowest first, and are fully alike") {
  const formats::Csr a = matrix_of({{1, 2}, {0}, {1, 2}, {1, 2}, {}, {3}}, 4);
  const reorder::NearestRows nearest = nearest_of(a, 0.5, {.neighbours = 2});
  REQUIRE(nearest.of(3).size() == 2);
  CHECK(nearest.of(3)[0].row == 0);
  CHECK(nearest.of(3)[1].row == 2);
  CHECK(nearest.of(3)[0].similarity == doctest::Approx(1));
  for (const std::int64_t lonely : {1, 4, 5}) CHECK(nearest.of(lonely).empty());
}

TEST_CASE("nearest rows: twins are found under hub columns and small caps, with their true similarity") {
  // Every row has the 20 hub columns; rows 2i and 2i + 1, far apart in the matrix, share a column of their
  // own.
  const std::size_t pairs = 2000;
  Rows rows(2 * pairs);
  for (std::size_t i = 0; i < 2 * pairs; ++i) {
    for (std::int32_t hub = 0; hub < 20; ++hub) rows[i].push_back(hub);
    rows[i].push_back(static_cast<std::int32_t>(20 + i % pairs));
  }
  const formats::Csr a = matrix_of(rows, 20 + static_cast<std::int64_t>(pairs));
  const reorder::NearestRows nearest = nearest_of(a, 0.5, {.neighbours = 2, .list_rows = 8, .visits = 32});
  for (std::size_t i = 0; i < 2 * pairs; ++i) {
    const auto found = nearest.of(static_cast<std::int64_t>(i));
    REQUIRE_FALSE(found.empty());
    CHECK(found[0].row == static_cast<std::int32_t>((i + pairs) % (2 * pairs)));
    CHECK(found[0].similarity == doctest::Approx(1));
  }
}

TEST_CASE("nearest rows: a dense row beside short ones is compared without reading it each time") {
  const std::int32_t count = 20000;
  Rows rows(static_cast<std::size_t>(count) + 1);
  for (std::int32_t r = 0; r < count; ++r) {
    rows[0].push_back(r);
    rows[static_cast<std::size_t>(r) + 1] = {r};
  }
  const reorder::NearestRows nearest = nearest_of(matrix_of(rows, count), 0.5, {.visits = 1});
  CHECK(nearest.of(count).size() == 1);
  CHECK(nearest.of(count)[0].similarity == doctest::Approx(1.0 / count).epsilon(1e-3));
}

TEST_CASE("nearest rows: the same for any number of threads") {
  const formats::Csr a = matrix_of(skewed_rows(3000, 300), 300);
  const reorder::NearestOptions options{.list_rows = 16, .visits = 100};
  const auto run = [&](std::size_t threads) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    return nearest_of(a, 0.5, options);
  };
  const reorder::NearestRows one = run(1);
  for (const std::size_t threads : {2, 5}) {
    const reorder::NearestRows many = run(threads);
    for (std::int64_t r = 0; r < a.rows; ++r) REQUIRE(same(one.of(r), many.of(r)));
  }
}

TEST_CASE("nearest rows: stops when cancelled") {
  const formats::Csr a = matrix_of({{0}, {0}}, 1);
  Progress progress;
  progress.cancelled = true;
  const auto weights = reorder::jaccard_weights(a.view(), 0.5);
  const auto nearest = reorder::nearest_rows(a.view(), weights, {.progress = &progress});
  REQUIRE_FALSE(nearest);
  CHECK(nearest.error().message == "cancelled");
}
