#include "reorder/graph/dendrogram.hpp"

#include <doctest/doctest.h>

#include <functional>

#include "formats/core/random.hpp"
#include "tests/reorder/pattern.hpp"
#include "tests/reorder/threads.hpp"

using namespace sptile;

namespace {

/// Merges vertices in random order into random later ones; `roots` vertices remain roots.
reorder::Dendrogram random_forest(std::int64_t vertices, std::int64_t roots, std::uint64_t seed) {
  const auto order = random_permutation(vertices, RandomStream(seed));
  RandomStream random(seed + 1);
  reorder::Dendrogram forest(vertices);
  for (std::int64_t i = 0; i + roots < vertices; ++i) {
    // Mostly far ahead, so that both deep and wide subtrees appear.
    const std::int64_t later = i + 1 + random.below(1 + random.below(vertices - i - 1));
    forest.merge(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(later)]);
  }
  return forest;
}

/// Preorder by its definition, with a list of children per vertex.
std::vector<std::int32_t> preorder(const reorder::Dendrogram& forest) {
  const std::int64_t n = forest.parent.size();
  std::vector<std::int32_t> order, waiting;
  for (std::int64_t root = n; root-- > 0;)
    if (forest.parent[root] == root) waiting.push_back(static_cast<std::int32_t>(root));
  while (!waiting.empty()) {
    const std::int32_t v = waiting.back();
    waiting.pop_back();
    order.push_back(v);
    for (std::int32_t c = forest.last_child[v]; c >= 0; c = forest.previous_sibling[c]) waiting.push_back(c);
  }
  return order;
}

}  // namespace

TEST_CASE("depth_first: preorder, earlier merges first") {
  reorder::Dendrogram forest(5);
  forest.merge(4, 3);
  forest.merge(3, 1);
  forest.merge(0, 1);
  CHECK(reorder::depth_first(forest) == std::vector<std::int32_t>{1, 3, 4, 0, 2});
}

TEST_CASE("depth_first: small and large subtrees, for any number of threads") {
  for (const auto& [vertices, roots] :
       {std::pair<std::int64_t, std::int64_t>{0, 0}, {1, 1}, {700, 90}, {30000, 1}, {30000, 12000}}) {
    const reorder::Dendrogram forest = random_forest(vertices, roots, 3);
    const auto expected = preorder(forest);
    CHECK(std::ssize(expected) == vertices);
    for (const int threads : {1, 2, 8})
      CHECK(tests::with_threads(threads, [&] { return reorder::depth_first(forest); }) == expected);
  }
}

TEST_CASE("rows_of: columns are dropped, and empty rows are last") {
  tests::Pattern a;
  a.cols = 2;
  for (const auto& row : {std::set<std::int32_t>{}, {0}, {}, {0, 1}}) a.add_row(row);
  CHECK(reorder::rows_of(a.view(), std::vector<std::int32_t>{5, 3, 2, 4, 0, 1}) ==
        std::vector<std::int32_t>{3, 1, 0, 2});
}
