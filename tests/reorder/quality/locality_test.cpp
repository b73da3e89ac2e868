#include "reorder/quality/locality.hpp"

#include <doctest/doctest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <set>

#include "tests/reorder/random_pattern.hpp"

using namespace sptile;
using reorder::Pattern;
using reorder::random_pattern;

namespace {

std::set<std::int32_t> row(const Pattern& a, std::int32_t r) {
  const auto at = static_cast<std::size_t>(r);
  return {a.col_idx.begin() + a.row_ptr[at], a.col_idx.begin() + a.row_ptr[at + 1]};
}

// The definitions, spelled out with sets.
reorder::OrderLocality obvious(const Pattern& a, const std::vector<std::int32_t>& order) {
  std::vector<double> degree(static_cast<std::size_t>(a.cols), 0);
  for (const std::int32_t c : a.col_idx) ++degree[static_cast<std::size_t>(c)];
  reorder::OrderLocality result;
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    const std::set<std::int32_t> x = row(a, order[i]), y = row(a, order[i + 1]);
    std::set<std::int32_t> either = x;
    either.insert(y.begin(), y.end());
    double common = 0, all = 0;
    for (const std::int32_t c : either) {
      const double weight = std::pow(degree[static_cast<std::size_t>(c)], -reorder::kJaccardAlpha);
      all += weight;
      if (x.contains(c) && y.contains(c)) common += weight;
    }
    if (!either.empty()) result.jaccard_cost += 1 - common / all;
  }
  if (a.rows == a.cols) {
    std::vector<std::int64_t> place(order.size());
    for (std::size_t i = 0; i < order.size(); ++i)
      place[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
    result.bandwidth = 0;
    for (const std::int32_t r : order)
      for (const std::int32_t c : row(a, r))
        result.bandwidth = std::max(*result.bandwidth, std::abs(place[static_cast<std::size_t>(r)] -
                                                                place[static_cast<std::size_t>(c)]));
  }
  std::size_t columns = 0, stretches = 0;
  for (std::size_t first = 0; first < order.size(); first += reorder::kWorkingSetRows, ++stretches) {
    std::set<std::int32_t> distinct;
    for (std::size_t i = first; i < std::min(order.size(), first + reorder::kWorkingSetRows); ++i)
      distinct.merge(row(a, order[i]));
    columns += distinct.size();
  }
  if (stretches > 0)
    result.working_set_columns = static_cast<double>(columns) / static_cast<double>(stretches);
  return result;
}

void compare(const reorder::OrderLocality& found, const reorder::OrderLocality& expected) {
  CHECK(found.jaccard_cost == doctest::Approx(expected.jaccard_cost).epsilon(1e-6));
  CHECK(found.bandwidth == expected.bandwidth);
  CHECK(found.working_set_columns == expected.working_set_columns);
}

}  // namespace

TEST_CASE("locality: agrees with the definition, in the original order and in another") {
  for (const auto& [rows, cols, density] : {std::tuple{1, 1, 1.0},
                                            {7, 300, 0.1},
                                            {129, 64, 0.02},
                                            {90, 90, 0.1},
                                            {1000, 50, 0.3},
                                            {1500, 1500, 0.004},
                                            {5000, 70, 0.02}}) {
    const auto row_count = rows;
    CAPTURE(row_count);
    const Pattern a = random_pattern(rows, cols, density, 11);
    std::vector<std::int32_t> order(static_cast<std::size_t>(rows));
    std::iota(order.begin(), order.end(), 0);
    compare(reorder::measure_locality(a.view()), obvious(a, order));
    std::shuffle(order.begin(), order.end(), std::mt19937(3));
    compare(reorder::measure_locality(a.view(), order), obvious(a, order));
  }
}

TEST_CASE("locality: a diagonal costs the most, equal rows nothing") {
  Pattern diagonal{100, 100}, equal{100, 100};
  for (std::int32_t r = 0; r < 100; ++r) {
    diagonal.col_idx.push_back(r);
    diagonal.end_row();
    for (const std::int32_t c : {4, 8}) equal.col_idx.push_back(c);
    equal.end_row();
  }
  CHECK(reorder::measure_locality(diagonal.view()).jaccard_cost == 99);
  CHECK(*reorder::measure_locality(diagonal.view()).bandwidth == 0);
  CHECK(reorder::measure_locality(diagonal.view()).working_set_columns == 100);
  CHECK(reorder::measure_locality(equal.view()).jaccard_cost == 0);
  CHECK(*reorder::measure_locality(equal.view()).bandwidth == 95);
  CHECK(reorder::measure_locality(equal.view()).working_set_columns == 2);
}

TEST_CASE("locality: a matrix without rows, columns or entries") {
  for (const Pattern& a :
       {random_pattern(0, 0, 0, 1), random_pattern(0, 9, 0, 1), random_pattern(20, 0, 0, 1)}) {
    const reorder::OrderLocality found = reorder::measure_locality(a.view());
    CHECK(found.jaccard_cost == 0);
    CHECK(found.working_set_columns == 0);
  }
}

TEST_CASE("locality: gives the same bits for any number of threads") {
  const Pattern a = random_pattern(20000, 400, 0.02, 5);
  const auto with_threads = [&](std::size_t threads) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    return reorder::measure_locality(a.view());
  };
  const double one = with_threads(1).jaccard_cost;
  for (const std::size_t threads : {2, 3, 8}) CHECK(with_threads(threads).jaccard_cost == one);
}
