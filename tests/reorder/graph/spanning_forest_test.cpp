#include "reorder/graph/spanning_forest.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "formats/core/random.hpp"

using namespace sptile;
using reorder::WeightedEdge;

namespace {

std::vector<std::int32_t> all_vertices(std::int64_t count) {
  std::vector<std::int32_t> vertices(static_cast<std::size_t>(count));
  std::iota(vertices.begin(), vertices.end(), 0);
  return vertices;
}

/// Weights are multiples of 1/4, so that sums are exact and ties happen.
std::vector<WeightedEdge> random_edges(std::int64_t vertices, std::int64_t count, std::uint64_t seed) {
  RandomStream random(seed);
  std::vector<WeightedEdge> edges;
  for (std::int64_t i = 0; i < count; ++i)
    edges.push_back({static_cast<float>(1 + random.below(20)) / 4,
                     static_cast<std::int32_t>(random.below(vertices)),
                     static_cast<std::int32_t>(random.below(vertices))});
  return edges;
}

/// Grows each tree by the heaviest edge that leaves it, looking at all edges each time.
double greatest_weight(std::int64_t vertices, const std::vector<WeightedEdge>& edges, std::size_t& taken) {
  std::vector<bool> in(static_cast<std::size_t>(vertices));
  double sum = 0;
  taken = 0;
  for (std::size_t root = 0; root < in.size(); ++root) {
    if (in[root]) continue;
    in[root] = true;
    for (;;) {
      const WeightedEdge* best = nullptr;
      for (const WeightedEdge& e : edges)
        if (in[static_cast<std::size_t>(e.a)] != in[static_cast<std::size_t>(e.b)] &&
            (best == nullptr || e.weight > best->weight))
          best = &e;
      if (best == nullptr) break;
      in[static_cast<std::size_t>(best->a)] = in[static_cast<std::size_t>(best->b)] = true;
      sum += static_cast<double>(best->weight);
      ++taken;
    }
  }
  return sum;
}

}  // namespace

TEST_CASE("spanning forest: as heavy as one grown vertex by vertex") {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const std::int64_t vertices = 5 + static_cast<std::int64_t>(seed);
    const auto edges = random_edges(vertices, static_cast<std::int64_t>(seed) * 3, seed);
    std::size_t taken = 0;
    const double expected = greatest_weight(vertices, edges, taken);
    const auto forest = reorder::maximum_spanning_forest(vertices, edges);
    double sum = 0;
    for (const WeightedEdge& e : forest) sum += static_cast<double>(e.weight);
    CHECK(sum == expected);
    CHECK(forest.size() == taken);
    CHECK(std::ranges::is_sorted(forest, std::greater{}, &WeightedEdge::weight));
  }
}

TEST_CASE("spanning forest: trees stay within a given size, heavy edges are served first") {
  // A path whose edges lighten from left to right closes trees of 3: {0 1 2} {3 4 5} {6}.
  std::vector<WeightedEdge> edges;
  for (std::int32_t v = 0; v < 6; ++v) edges.push_back({static_cast<float>(10 - v), v, v + 1});
  const auto walk = reorder::walk_depth_first(reorder::maximum_spanning_forest(7, edges, 3), all_vertices(7));
  CHECK(walk.order == std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6});
  CHECK(walk.tree_starts == std::vector<std::int64_t>{0, 3, 6, 7});
}

TEST_CASE("spanning forest: a walk meets parents first, keeps trees together and starts them as asked") {
  const std::int64_t vertices = 200;
  const auto forest = reorder::maximum_spanning_forest(vertices, random_edges(vertices, 180, 7));
  std::vector<std::int32_t> roots = all_vertices(vertices);
  std::ranges::reverse(roots);
  const auto walk = reorder::walk_depth_first(forest, roots);
  CHECK(std::set<std::int32_t>(walk.order.begin(), walk.order.end()).size() == walk.order.size());
  CHECK(walk.tree_starts.size() == static_cast<std::size_t>(vertices) - forest.size() + 1);
  for (std::size_t t = 0; t + 1 < walk.tree_starts.size(); ++t) {
    std::set<std::int32_t> seen;
    for (auto i = walk.tree_starts[t]; i < walk.tree_starts[t + 1]; ++i) {
      const std::int32_t v = walk.order[static_cast<std::size_t>(i)];
      const bool attached = std::ranges::any_of(forest, [&](const WeightedEdge& e) {
        return (e.a == v && seen.contains(e.b)) || (e.b == v && seen.contains(e.a));
      });
      CHECK(attached == !seen.empty());
      seen.insert(v);
    }
    CHECK(walk.order[static_cast<std::size_t>(walk.tree_starts[t])] == *seen.rbegin());
  }
}

TEST_CASE("spanning forest: small branches are walked first") {
  // 0 has the chain 1 2 3 and the leaf 4.
  const std::vector<WeightedEdge> edges = {{9, 0, 1}, {8, 1, 2}, {7, 2, 3}, {1, 0, 4}};
  CHECK(reorder::walk_depth_first(edges, all_vertices(5)).order == std::vector<std::int32_t>{0, 4, 1, 2, 3});
}

TEST_CASE("spanning forest: a path of a million vertices needs no deep stack") {
  const std::int32_t length = 1000000;
  std::vector<WeightedEdge> edges;
  for (std::int32_t v = 0; v + 1 < length; ++v) edges.push_back({1, v, v + 1});
  const auto walk = reorder::walk_depth_first(reorder::maximum_spanning_forest(length, std::move(edges)),
                                              all_vertices(length));
  CHECK(std::ranges::is_sorted(walk.order));
  CHECK(reorder::walk_depth_first(reorder::maximum_spanning_forest(0, {}), {}).order.empty());
}
