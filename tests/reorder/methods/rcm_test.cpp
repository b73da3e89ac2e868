#include "reorder/methods/rcm.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "formats/core/csr.hpp"
#include "formats/core/random.hpp"
#include "reorder/quality/locality.hpp"
#include "tests/reorder/random_pattern.hpp"

using namespace sptile;
using reorder::Pattern;
using Edges = std::vector<std::pair<std::int32_t, std::int32_t>>;

namespace {

// A symmetric pattern without diagonal, its vertices renamed at random when seed > 0.
Pattern from_edges(std::int64_t vertices, const Edges& edges, std::uint64_t seed) {
  std::vector<std::int32_t> name(static_cast<std::size_t>(vertices));
  std::iota(name.begin(), name.end(), 0);
  if (seed > 0) name = random_permutation(vertices, RandomStream(seed));
  std::vector<std::vector<std::int32_t>> lists(static_cast<std::size_t>(vertices));
  for (const auto& [u, v] : edges) {
    const std::int32_t x = name[static_cast<std::size_t>(u)], y = name[static_cast<std::size_t>(v)];
    lists[static_cast<std::size_t>(x)].push_back(y);
    lists[static_cast<std::size_t>(y)].push_back(x);
  }
  Pattern a{vertices, vertices};
  for (auto& list : lists) {
    std::ranges::sort(list);
    a.col_idx.insert(a.col_idx.end(), list.begin(), std::unique(list.begin(), list.end()));
    a.end_row();
  }
  return a;
}

Edges path(std::int32_t vertices) {
  Edges edges;
  for (std::int32_t v = 0; v + 1 < vertices; ++v) edges.emplace_back(v, v + 1);
  return edges;
}

Edges grid(std::int32_t side) {
  Edges edges;
  for (std::int32_t i = 0; i < side; ++i)
    for (std::int32_t j = 0; j < side; ++j) {
      if (j + 1 < side) edges.emplace_back(i * side + j, i * side + j + 1);
      if (i + 1 < side) edges.emplace_back(i * side + j, i * side + j + side);
    }
  return edges;
}

Edges random_edges(std::int32_t vertices, int count, std::uint64_t seed) {
  Edges edges;
  RandomStream random(seed);
  while (std::ssize(edges) < count) {
    const auto u = static_cast<std::int32_t>(random.below(vertices));
    const auto v = static_cast<std::int32_t>(random.below(vertices));
    if (u != v) edges.emplace_back(u, v);
  }
  return edges;
}

// Cuthill-McKee with a plain queue, each component reversed.
std::vector<std::int32_t> plain_rcm(const Pattern& a) {
  const auto graph = reorder::graph_of(a.view());
  std::vector<std::int32_t> order;
  std::vector<bool> visited(static_cast<std::size_t>(graph->vertices), false);
  for (const reorder::RcmComponent& component : reorder::peripheral_starts(*graph)) {
    const std::size_t first = order.size();
    order.push_back(component.start);
    visited[static_cast<std::size_t>(component.start)] = true;
    for (std::size_t next = first; next < order.size(); ++next) {
      const std::size_t old = order.size();
      for (const std::int32_t u : graph->of(order[next]))
        if (!visited[static_cast<std::size_t>(u)]) {
          visited[static_cast<std::size_t>(u)] = true;
          order.push_back(u);
        }
      std::stable_sort(order.begin() + static_cast<std::ptrdiff_t>(old), order.end(),
                       [&](std::int32_t x, std::int32_t y) { return graph->degree(x) < graph->degree(y); });
    }
    CHECK(static_cast<std::int64_t>(order.size() - first) == component.size);
    std::reverse(order.begin() + static_cast<std::ptrdiff_t>(first), order.end());
  }
  return reorder::rows_in_order(a.view(), *graph, order);
}

std::int64_t bandwidth(const Pattern& a, const std::vector<std::int32_t>& order) {
  return *reorder::measure_locality(a.view(), order).bandwidth;
}

}  // namespace

TEST_CASE("rcm: a shuffled path becomes a path again") {
  const Pattern a = from_edges(1000, path(1000), 7);
  CHECK(bandwidth(a, *reorder::order_by_rcm(a.view(), {})) == 1);
}

TEST_CASE("rcm: a shuffled grid gets a bandwidth near its side") {
  const Pattern a = from_edges(900, grid(30), 5);
  const std::int64_t width = bandwidth(a, *reorder::order_by_rcm(a.view(), {}));
  CHECK(width >= 30);
  CHECK(width <= 45);
}

TEST_CASE("rcm: Boost's walk is the one of a plain queue") {
  for (const Pattern& a :
       {from_edges(900, grid(30), 5), from_edges(500, random_edges(500, 450, 3), 0),
        from_edges(2000, random_edges(2000, 9000, 4), 0), from_edges(40, {}, 0),
        reorder::random_pattern(300, 300, 0.01, 2), reorder::random_pattern(200, 70, 0.03, 2)})
    CHECK(*reorder::order_by_rcm(a.view(), {}) == plain_rcm(a));
}

TEST_CASE("rcm: starts are at the rim, one for each component with an edge") {
  Edges edges = path(5);  // 0-1-2-3-4, then a star around 6, then 11 alone
  for (const std::int32_t leaf : {5, 7, 8, 9}) edges.emplace_back(6, leaf);
  const Pattern a = from_edges(12, edges, 0);
  const auto starts = reorder::peripheral_starts(*reorder::graph_of(a.view()));
  REQUIRE(starts.size() == 2);
  CHECK((starts[0].start == 0 || starts[0].start == 4));
  CHECK(starts[0].size == 5);
  CHECK(starts[1].start != 6);
  CHECK(starts[1].size == 5);
}

TEST_CASE("rcm: many small components take no time, and a long path no stack") {
  Edges pairs;
  for (std::int32_t v = 0; v < 400000; v += 2) pairs.emplace_back(v, v + 1);
  const Pattern a = from_edges(400000, pairs, 1), b = from_edges(400000, path(400000), 1);
  CHECK(bandwidth(a, *reorder::order_by_rcm(a.view(), {})) == 1);
  CHECK(bandwidth(b, *reorder::order_by_rcm(b.view(), {})) == 1);
}

TEST_CASE("rcm: rows on the diagonal only, then empty rows, go last") {
  const std::vector<std::int64_t> row_ptr = {0, 0, 1, 1, 2, 3};  // 1: {1}, 3: {4}, 4: {3}
  const std::vector<std::int32_t> col_idx = {1, 4, 3};
  const auto order = reorder::order_by_rcm({5, 5, row_ptr, col_idx, {}}, {});
  REQUIRE(order);
  CHECK(std::vector(order->begin() + 2, order->end()) == std::vector<std::int32_t>{1, 0, 2});
}

TEST_CASE("rcm: stops when it is told to") {
  const Pattern a = from_edges(10000, path(10000), 1);
  Progress progress;
  progress.cancelled = true;
  const auto order = reorder::order_by_rcm(a.view(), {.progress = &progress});
  REQUIRE_FALSE(order);
  CHECK(order.error().code == Errc::io);
}
