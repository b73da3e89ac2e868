#include "reorder/packing/path_refinement.hpp"

#include <doctest/doctest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <numeric>

#include "formats/core/csr.hpp"
#include "formats/core/random.hpp"

using namespace sptile;

namespace {

/// Row r has the columns r .. r + width - 1: rows are alike as far as they are near.
formats::Csr band(std::int64_t rows, std::int32_t width) {
  formats::Csr a{rows,
                 rows + width,
                 formats::Buffer<std::int64_t>(rows + 1),
                 formats::Buffer<std::int32_t>(rows * width),
                 {}};
  for (std::int64_t r = 0; r <= rows; ++r) a.row_ptr[r] = r * width;
  for (std::int64_t i = 0; i < rows * width; ++i)
    a.col_idx[i] = static_cast<std::int32_t>(i / width + i % width);
  return a;
}

/// The sum of 1 - similarity over adjacent rows, from the definition.
double cost(const formats::Csr& a, const reorder::JaccardWeights& weights,
            std::span<const std::int32_t> order) {
  double sum = 0;
  for (std::size_t i = 1; i < order.size(); ++i) {
    std::vector<std::int32_t> common;
    std::ranges::set_intersection(reorder::columns_of(a.view(), order[i - 1]),
                                  reorder::columns_of(a.view(), order[i]), std::back_inserter(common));
    float weight = 0;
    for (const std::int32_t c : common) weight += weights.column[static_cast<std::size_t>(c)];
    sum += 1 - static_cast<double>(weights.similarity(order[i - 1], order[i], weight));
  }
  return sum;
}

}  // namespace

TEST_CASE("path refinement: runs of a path that were turned around are turned back") {
  const formats::Csr a = band(64, 8);
  const auto weights = reorder::jaccard_weights(a.view(), 0.5);
  std::vector<std::int32_t> order(64);
  std::iota(order.begin(), order.end(), 0);
  const std::vector<std::int32_t> straight = order;
  std::reverse(order.begin() + 10, order.begin() + 30);
  std::reverse(order.begin() + 25, order.begin() + 60);
  reorder::refine_path(a.view(), weights, order, 64, nullptr);
  CHECK(order == straight);
}

TEST_CASE("path refinement: never raises the cost, keeps the ends and the rows of each stretch") {
  const formats::Csr a = band(300, 5);
  const auto weights = reorder::jaccard_weights(a.view(), 0.5);
  for (const int stretch : {3, 16, 50, 64}) {
    std::vector<std::int32_t> order = random_permutation(300, RandomStream(3));
    // A partition of near rows, shuffled within: there is something to gain.
    std::ranges::sort(order, {}, [](std::int32_t r) { return r / 40; });
    const std::vector<std::int32_t> before = order;
    reorder::refine_path(a.view(), weights, order, stretch, nullptr);
    CHECK(cost(a, weights, order) <= cost(a, weights, before) + 1e-6);
    if (stretch > 3) CHECK(cost(a, weights, order) < 0.9 * cost(a, weights, before));
    for (std::size_t s = 0; s < order.size(); s += static_cast<std::size_t>(stretch)) {
      const std::size_t end = std::min(order.size(), s + static_cast<std::size_t>(stretch));
      CHECK(order[s] == before[s]);
      CHECK(order[end - 1] == before[end - 1]);
      const auto at = static_cast<std::ptrdiff_t>(s), last = static_cast<std::ptrdiff_t>(end);
      CHECK(std::is_permutation(order.begin() + at, order.begin() + last, before.begin() + at));
    }
  }
}

TEST_CASE("path refinement: the same for any number of threads") {
  const formats::Csr a = band(5000, 6);
  const auto weights = reorder::jaccard_weights(a.view(), 0.5);
  const auto run = [&](std::size_t threads) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    std::vector<std::int32_t> order = random_permutation(5000, RandomStream(4));
    reorder::refine_path(a.view(), weights, order, 64, nullptr);
    return order;
  };
  const auto one = run(1);
  CHECK(run(2) == one);
  CHECK(run(7) == one);
}
