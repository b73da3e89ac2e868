#include "reorder/methods/affinity.hpp"

#include <doctest/doctest.h>

#include <set>

#include "reorder/graph/communities.hpp"
#include "reorder/quality/quality.hpp"
#include "reorder/similarity/common_neighbours.hpp"
#include "tests/reorder/pattern.hpp"

namespace {

using namespace sptile;
using tests::Pattern;

std::vector<std::int32_t> order_rows(const Pattern& a, std::vector<reorder::Setting> settings = {}) {
  const auto order = reorder::order_by_affinity(a.view(), {.settings = settings});
  REQUIRE(order.has_value());
  return *order;
}

std::int64_t shared(const Pattern& a, std::int32_t x, std::int32_t y) {
  const auto row = [&](std::int32_t r) {
    return std::set<std::int32_t>(a.col_idx.begin() + a.row_ptr[static_cast<std::size_t>(r)],
                                  a.col_idx.begin() + a.row_ptr[static_cast<std::size_t>(r) + 1]);
  };
  std::int64_t count = 0;
  for (const std::int32_t c : row(x)) count += row(y).count(c) != 0;
  return count;
}

/// The dendrogram's walk, which step I of the paper's Algorithm 1 gives: rows and their communities.
struct Walk {
  std::vector<std::int32_t> rows;       ///< those without entries last
  std::vector<std::int32_t> community;  ///< of each vertex
};

Walk depth_first_walk(const Pattern& a) {
  const auto graph = reorder::graph_of(a.view());
  REQUIRE(graph.has_value());
  const auto tree = reorder::merge_communities(*graph, nullptr);
  REQUIRE(tree.has_value());
  Walk walk{reorder::rows_of(a.view(), reorder::depth_first(*tree)), {}};
  for (std::int32_t v = 0; v < graph->vertices; ++v) {
    std::int32_t root = v;
    while (tree->parent[root] != root) root = tree->parent[root];
    walk.community.push_back(root);
  }
  return walk;
}

/// Acc-SpMM, Algorithm 1, step II (lines 9 to 27), one row after the other: all free rows are tried, in the
/// order of the depth-first walk from the row on. `within`: only those of the row's community are.
std::vector<std::int32_t> by_the_book(const Pattern& a, bool within) {
  const Walk walk = depth_first_walk(a);
  const std::size_t rows = walk.rows.size();
  std::vector<bool> visited(rows, false);
  std::vector<std::int32_t> order;
  const auto most_common = [&](std::size_t v) {
    std::size_t best = rows;
    std::int64_t max = 0;
    for (std::size_t step = 1; step < rows; ++step) {
      const std::size_t u = (v + step) % rows;
      const std::int32_t row = walk.rows[v], other = walk.rows[u];
      if (visited[u]) continue;
      if (within &&
          walk.community[static_cast<std::size_t>(row)] != walk.community[static_cast<std::size_t>(other)])
        continue;
      const std::int64_t common = shared(a, row, other);
      if (common > max) max = common, best = u;
    }
    return best;
  };
  for (std::size_t v = 0; v < rows; ++v)
    for (std::size_t u = v; u < rows && !visited[u]; u = most_common(u)) {
      visited[u] = true;
      order.push_back(walk.rows[u]);
    }
  return order;
}

/// Groups that are connected within, and share columns with rows of other groups: where partners may come
/// from makes a difference.
Pattern groups_with_bridges(std::uint64_t seed) {
  constexpr std::int64_t kRows = 160, kGroup = 20;
  std::vector<std::set<std::int32_t>> neighbours(kRows);
  RandomStream random(seed);
  for (std::int64_t v = 0; v < kRows; ++v)
    for (int k = 0; k < 4; ++k) {
      const std::int64_t u = k == 3 ? random.below(kRows) : v / kGroup * kGroup + random.below(kGroup);
      neighbours[static_cast<std::size_t>(v)].insert(static_cast<std::int32_t>(u));
      neighbours[static_cast<std::size_t>(u)].insert(static_cast<std::int32_t>(v));
    }
  Pattern a;
  a.cols = kRows;
  for (const auto& row : neighbours) a.add_row(row);
  return a;
}

}  // namespace

TEST_CASE("common neighbours: the rows that share most columns, where nothing is cut short") {
  const Pattern a = tests::random_pattern(120, 50, 8, 7);
  const auto rows = tests::given_order(a.rows), columns = tests::given_order(a.cols);
  const reorder::PlacedMatrix placed = reorder::place(a.view(), rows, columns);
  reorder::CommonNeighbours counter(placed);
  for (std::int32_t row = 0; row < a.rows; ++row) {
    CAPTURE(row);
    std::vector<std::int32_t> best(5);
    const std::size_t found = counter.find(row, best, [](std::int32_t) { return true; });
    std::vector<std::int64_t> counts;
    for (std::int32_t other = 0; other < a.rows; ++other)
      if (other != row && shared(a, row, other) > 0) counts.push_back(shared(a, row, other));
    std::sort(counts.rbegin(), counts.rend());
    REQUIRE(found == std::min<std::size_t>(5, counts.size()));
    for (std::size_t i = 0; i < found; ++i) CHECK(shared(a, row, best[i]) == counts[i]);
  }
}

TEST_CASE("common neighbours: twins are found among long columns, and exactly counted") {
  // Every column is in hundreds of rows, far more than are looked at.
  Pattern a;
  a.cols = 64;
  for (std::uint64_t pair = 0; pair < 1500; ++pair) {
    RandomStream random(11, pair);
    std::set<std::int32_t> columns;
    while (columns.size() < 24) columns.insert(static_cast<std::int32_t>(random.below(64)));
    a.add_row(columns);
    a.add_row(columns);
  }
  const auto rows = tests::given_order(a.rows), columns = tests::given_order(a.cols);
  const reorder::PlacedMatrix placed = reorder::place(a.view(), rows, columns);
  reorder::CommonNeighbours counter(placed);
  for (std::int32_t row = 0; row < a.rows; ++row) {
    std::int32_t best = -1;
    REQUIRE(counter.find(row, {&best, 1}, [](std::int32_t) { return true; }) == 1);
    CHECK(shared(a, row, best) == 24);
  }
}

TEST_CASE("affinity: each row is followed by a free row that shares most columns with it") {
  const Pattern a = tests::random_pattern(150, 40, 6, 5);
  const auto order = order_rows(a);
  std::set<std::int32_t> free(order.begin(), order.end());
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    free.erase(order[i]);
    std::int64_t max = 0;
    for (const std::int32_t other : free) max = std::max(max, shared(a, order[i], other));
    CHECK(shared(a, order[i], order[i + 1]) >= max);
  }
}

TEST_CASE("affinity: the paper's ordering, from all free rows (within 0) and inside a community (within 1)") {
  for (std::uint64_t seed = 0; seed < 6; ++seed)
    for (const double within : {0.0, 1.0})
      for (const double partners : {1.0, 8.0}) {
        CAPTURE(seed);
        CAPTURE(within);
        CAPTURE(partners);
        const std::vector<reorder::Setting> settings = {{"within", within}, {"partners", partners}};
        const Pattern graph = groups_with_bridges(seed), bipartite = tests::random_pattern(120, 70, 5, seed);
        CHECK(order_rows(graph, settings) == by_the_book(graph, within != 0));
        CHECK(order_rows(bipartite, settings) == by_the_book(bipartite, within != 0));
      }
}

TEST_CASE(
    "affinity: within 1 leaves a community only when none of it shares a column, within 0 as it likes") {
  const Pattern a = groups_with_bridges(2);
  const Walk walk = depth_first_walk(a);
  const auto departures = [&](double within) {  // to another community while the one left has a partner
    const auto order = order_rows(a, {{"within", within}});
    const auto community = [&](std::int32_t row) { return walk.community[static_cast<std::size_t>(row)]; };
    std::int64_t count = 0;
    for (std::size_t i = 0; i + 1 < order.size(); ++i) {
      if (community(order[i]) == community(order[i + 1])) continue;
      count += std::any_of(order.begin() + static_cast<std::ptrdiff_t>(i) + 1, order.end(),
                           [&](std::int32_t free) {
                             return community(free) == community(order[i]) && shared(a, order[i], free) > 0;
                           });
    }
    return count;
  };
  CHECK(departures(1) == 0);
  CHECK(departures(0) > 0);
}

TEST_CASE("affinity: shuffled groups of equal rows come together, as full tiles") {
  const Pattern a = tests::planted_groups(60, 8, 6, 5);
  CHECK(reorder::measure_windows(a.view(), order_rows(a), 8).distinct_columns == 60 * 6);
}

TEST_CASE("affinity: stops when cancelled") {
  Progress progress;
  progress.cancelled = true;
  reorder::ReorderOptions options;
  options.progress = &progress;
  const Pattern a = tests::random_pattern(500, 90, 7, 3);
  const auto order = reorder::order_by_affinity(a.view(), options);
  REQUIRE_FALSE(order.has_value());
  CHECK(order.error().message == "cancelled");
}
