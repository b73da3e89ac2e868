#include "reorder/methods/rabbit.hpp"

#include <doctest/doctest.h>

#include <set>

#include "reorder/graph/communities.hpp"
#include "tests/reorder/pattern.hpp"

namespace {

using namespace sptile;
using tests::Pattern;

std::vector<std::int32_t> order_rows(const Pattern& a) {
  const auto order = reorder::order_by_rabbit(a.view(), {});
  REQUIRE(order.has_value());
  return *order;
}

/// Communities of `size` members whose labels are shuffled: `inside` random edges a member within, one edge
/// in `rarity` leads out. Gives the community of each row.
std::vector<std::int32_t> plant(std::int64_t communities, std::int64_t size, std::int64_t inside,
                                std::int64_t rarity, std::uint64_t seed, Pattern& a) {
  const std::int64_t rows = communities * size;
  const std::vector<std::int32_t> label = random_permutation(rows, RandomStream(seed));
  std::vector<std::set<std::int32_t>> neighbours(static_cast<std::size_t>(rows));
  std::vector<std::int32_t> community(static_cast<std::size_t>(rows));
  RandomStream random(seed + 1);
  for (std::int64_t v = 0; v < rows; ++v) {
    const auto x = static_cast<std::size_t>(label[static_cast<std::size_t>(v)]);
    community[x] = static_cast<std::int32_t>(v / size);
    for (std::int64_t k = 0; k < inside; ++k) {
      const std::int64_t u =
          random.below(rarity) == 0 ? random.below(rows) : v / size * size + random.below(size);
      const auto y = static_cast<std::size_t>(label[static_cast<std::size_t>(u)]);
      neighbours[x].insert(static_cast<std::int32_t>(y));
      neighbours[y].insert(static_cast<std::int32_t>(x));
    }
  }
  a.cols = rows;
  for (const auto& row : neighbours) a.add_row(row);
  return community;
}

/// How often a row stands beside one of another community.
std::int64_t changes(const std::vector<std::int32_t>& order, const std::vector<std::int32_t>& community) {
  std::int64_t count = 0;
  for (std::size_t i = 1; i < order.size(); ++i)
    count +=
        community[static_cast<std::size_t>(order[i])] != community[static_cast<std::size_t>(order[i - 1])];
  return count;
}

}  // namespace

TEST_CASE("rabbit: planted communities stand together again") {
  Pattern a;
  const auto community = plant(40, 50, 6, 12, 3, a);
  CHECK(changes(tests::given_order(a.rows), community) > 1800);  // of 1999: they were shuffled
  CHECK(changes(order_rows(a), community) < 200);
}

TEST_CASE("rabbit: molecules, that is components, stay whole") {
  Pattern a;
  const auto molecule = plant(200, 12, 3, 1 << 30, 9, a);
  const auto graph = reorder::graph_of(a.view());
  REQUIRE(graph.has_value());
  const auto tree = reorder::merge_communities(*graph, nullptr);
  REQUIRE(tree.has_value());
  for (std::int64_t v = 0; v < a.rows; ++v)
    CHECK(molecule[static_cast<std::size_t>(v)] == molecule[static_cast<std::size_t>(tree->parent[v])]);
}

TEST_CASE("communities: merging never lowers modularity") {
  Pattern a;
  plant(10, 30, 4, 6, 5, a);
  const auto graph = reorder::graph_of(a.view());
  REQUIRE(graph.has_value());
  const auto tree = reorder::merge_communities(*graph, nullptr);
  REQUIRE(tree.has_value());
  // Modularity from its definition, self-loops left out as the graph leaves them out.
  std::vector<std::int64_t> root(static_cast<std::size_t>(a.rows));
  for (std::int64_t v = 0; v < a.rows; ++v) {
    std::int64_t r = v;
    while (tree->parent[r] != r) r = tree->parent[r];
    root[static_cast<std::size_t>(v)] = r;
  }
  double edges = 0, inside = 0;
  std::vector<double> degree(static_cast<std::size_t>(a.rows), 0);
  for (std::int64_t v = 0; v < a.rows; ++v)
    for (std::int64_t k = a.row_ptr[static_cast<std::size_t>(v)];
         k < a.row_ptr[static_cast<std::size_t>(v) + 1]; ++k) {
      const auto u = static_cast<std::size_t>(a.col_idx[static_cast<std::size_t>(k)]);
      if (static_cast<std::int64_t>(u) == v) continue;
      edges += 1;
      inside += root[u] == root[static_cast<std::size_t>(v)];
      degree[static_cast<std::size_t>(root[static_cast<std::size_t>(v)])] += 1;
    }
  double expected = 0, alone = 0;
  for (const double d : degree) expected += d / edges * (d / edges);
  for (std::int64_t v = 0; v < a.rows; ++v) {
    const auto d = static_cast<double>(a.row_ptr[static_cast<std::size_t>(v) + 1] -
                                       a.row_ptr[static_cast<std::size_t>(v)]);
    alone += d / edges * (d / edges);
  }
  CHECK(inside / edges - expected > 0.4);  // ten communities, a sixth of the edges leads out
  CHECK(inside / edges - expected > -alone);
}

TEST_CASE("rabbit: a rectangular matrix is seen as a bipartite graph") {
  const Pattern a = tests::planted_groups(50, 6, 4, 2);
  const auto order = order_rows(a);
  std::int64_t full = 0;
  for (std::size_t i = 0; i + 6 <= order.size(); i += 6)
    full += tests::distinct_columns(a, std::span(order).subspan(i, 6)) == 4;
  CHECK(full == 50);
}

TEST_CASE("rabbit: stops when cancelled") {
  Progress progress;
  progress.cancelled = true;
  reorder::ReorderOptions options;
  options.progress = &progress;
  Pattern a;
  plant(20, 20, 3, 9, 1, a);
  const auto order = reorder::order_by_rabbit(a.view(), options);
  REQUIRE_FALSE(order.has_value());
  CHECK(order.error().message == "cancelled");
}
