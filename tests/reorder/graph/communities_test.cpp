#include "reorder/graph/communities.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "formats/core/random.hpp"
#include "reorder/graph/by_degree.hpp"
#include "reorder/graph/links.hpp"
#include "tests/reorder/threads.hpp"

using namespace sptile;

namespace {

using Edges = std::vector<std::pair<std::int64_t, std::int64_t>>;

reorder::Graph graph_of_edges(std::int64_t vertices, Edges edges) {
  for (std::size_t i = edges.size(); i-- > 0;) edges.emplace_back(edges[i].second, edges[i].first);
  std::erase_if(edges, [](const auto& edge) { return edge.first == edge.second; });
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  reorder::Graph graph{vertices, formats::Buffer<std::int64_t>(vertices + 1),
                       formats::Buffer<std::int32_t>(std::ssize(edges))};
  std::ranges::fill(graph.offsets, 0);
  for (std::size_t i = 0; i < edges.size(); ++i) {
    ++graph.offsets[edges[i].first + 1];
    graph.neighbours[static_cast<std::int64_t>(i)] = static_cast<std::int32_t>(edges[i].second);
  }
  for (std::int64_t v = 0; v < vertices; ++v) graph.offsets[v + 1] += graph.offsets[v];
  return graph;
}

struct Sample {
  std::string name;
  reorder::Graph graph;
};

/// Graphs with chains of choices, hubs that many vertices choose at once, and vertices with many links.
std::vector<Sample> samples() {
  constexpr std::int64_t n = 40000;
  Edges path, star, stars, cliques, skewed, wheel;
  for (std::int64_t v = 0; v < n; ++v) {
    if (v > 0) path.emplace_back(v - 1, v);
    star.emplace_back(7, v);
    stars.emplace_back(v % 20, v);
    for (std::int64_t u = v / 9 * 9; u < v; ++u) cliques.emplace_back(u, v);
    RandomStream random(5, static_cast<std::uint64_t>(v));
    for (int k = 0; k < 6; ++k) skewed.emplace_back(v, random.below(1 + random.below(1 + random.below(n))));
    wheel.emplace_back(0, v);
    wheel.emplace_back(v, (v + 1) % n);
  }
  std::vector<Sample> result;
  result.push_back({"no vertices", graph_of_edges(0, {})});
  result.push_back({"no edges", graph_of_edges(500, {})});
  result.push_back({"path", graph_of_edges(n, path)});
  result.push_back({"star", graph_of_edges(n, star)});
  result.push_back({"stars with common leaves", graph_of_edges(n, stars)});
  result.push_back({"disconnected cliques", graph_of_edges(n, cliques)});
  result.push_back({"skewed degrees", graph_of_edges(n, skewed)});
  result.push_back({"wheel", graph_of_edges(n, wheel)});
  return result;
}

std::vector<std::int32_t> parents(const reorder::Graph& graph, int threads, reorder::MergeWork& work) {
  return tests::with_threads(threads, [&] {
    const auto tree = reorder::merge_communities(graph, nullptr, &work);
    REQUIRE(tree.has_value());
    return std::vector<std::int32_t>(tree->parent.begin(), tree->parent.end());
  });
}

}  // namespace

TEST_CASE("communities: the same forest for any number of threads, with bounded work") {
  for (const Sample& sample : samples()) {
    CAPTURE(sample.name);
    reorder::MergeWork work;
    const auto forest = parents(sample.graph, 1, work);
    for (const int threads : {2, 3, 8}) {
      reorder::MergeWork other;
      CHECK(parents(sample.graph, threads, other) == forest);
      CHECK(std::tuple(other.rounds, other.choices, other.reads) ==
            std::tuple(work.rounds, work.choices, work.reads));
    }
    CHECK(work.rounds <= 2000);
    CHECK(work.choices <= 4 * sample.graph.vertices);
    CHECK(work.reads <= 16 * sample.graph.neighbours.size());
  }
}

TEST_CASE("communities: a forest along edges of the graph, with sizes of its subtrees") {
  for (const Sample& sample : samples()) {
    CAPTURE(sample.name);
    const auto tree = reorder::merge_communities(sample.graph, nullptr);
    REQUIRE(tree.has_value());
    const std::int64_t n = sample.graph.vertices;
    std::int64_t in_trees = 0, children = 0, roots = 0, wrong_sizes = 0;
    for (std::int64_t v = 0; v < n; ++v) {
      if (tree->parent[v] == v) in_trees += tree->size[v], ++roots;
      std::int32_t size = 1;
      for (std::int32_t c = tree->last_child[v]; c >= 0; c = tree->previous_sibling[c]) {
        size += tree->size[c];
        ++children;
        wrong_sizes += tree->parent[c] != v;
      }
      wrong_sizes += size != tree->size[v];
    }
    CHECK(in_trees == n);
    CHECK(children + roots == n);
    CHECK(wrong_sizes == 0);
  }
}

TEST_CASE("communities: cliques become communities") {
  for (Sample& sample : samples()) {
    if (sample.name != "disconnected cliques") continue;
    const auto tree = reorder::merge_communities(sample.graph, nullptr);
    REQUIRE(tree.has_value());
    std::int64_t roots = 0;
    for (std::int64_t v = 0; v < sample.graph.vertices; ++v) {
      roots += tree->parent[v] == v;
      CHECK(tree->parent[v] / 9 == v / 9);
    }
    CHECK(roots == (sample.graph.vertices + 8) / 9);
  }
}

TEST_CASE("by_ascending_degree: by degree, then by id, also above 1024 neighbors") {
  for (const Sample& sample : samples()) {
    CAPTURE(sample.name);
    const std::int64_t n = sample.graph.vertices;
    std::vector<std::int32_t> expected(static_cast<std::size_t>(n));
    for (std::int64_t v = 0; v < n; ++v) expected[static_cast<std::size_t>(v)] = static_cast<std::int32_t>(v);
    std::stable_sort(expected.begin(), expected.end(), [&](std::int32_t x, std::int32_t y) {
      return sample.graph.degree(x) < sample.graph.degree(y);
    });
    const auto order = tests::with_threads(3, [&] { return reorder::by_ascending_degree(sample.graph); });
    CHECK(std::ranges::equal(order.vertices, expected));
    for (std::int64_t i = 0; i < n; ++i) CHECK(order.degree(i) == sample.graph.degree(order.vertices[i]));
  }
}

TEST_CASE("link table: sums weights by community, in both layouts, and clamps") {
  reorder::LinkTable table;
  for (const std::size_t count : {5, 5000}) {
    table.reset(count);
    for (std::size_t i = 0; i < count; ++i) table.add(static_cast<std::int32_t>(i * i % 97), 3);
    std::vector<std::uint32_t> expected(97, 0);
    for (std::size_t i = 0; i < count; ++i) expected[i * i % 97] += 3;
    std::size_t found = 0;
    for (const reorder::Link& link : table.links()) {
      CHECK(link.weight == expected[static_cast<std::size_t>(link.to)]);
      ++found;
    }
    CHECK(found == 97 - static_cast<std::size_t>(std::ranges::count(expected, 0u)));
  }
  CHECK(reorder::add_clamped(4000000000u, 500000000u) == 4294967295u);
  CHECK(reorder::add_clamped(4, 5) == 9);
}
