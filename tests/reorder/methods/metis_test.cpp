#include "reorder/methods/metis.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "formats/core/csr.hpp"
#include "formats/core/random.hpp"
#include "tests/reorder/random_pattern.hpp"

using namespace sptile;
using reorder::Pattern;

namespace {

// A grid with four neighbours, its cells renamed.
Pattern grid(std::int32_t side, const std::vector<std::int32_t>& cell) {
  const auto at = [&](std::int32_t i, std::int32_t j) { return static_cast<std::size_t>(i * side + j); };
  std::vector<std::vector<std::int32_t>> lists(cell.size());
  for (std::int32_t i = 0; i < side; ++i)
    for (std::int32_t j = 0; j < side; ++j) {
      auto& list = lists[static_cast<std::size_t>(cell[at(i, j)])];
      if (i > 0) list.push_back(cell[at(i - 1, j)]);
      if (i + 1 < side) list.push_back(cell[at(i + 1, j)]);
      if (j > 0) list.push_back(cell[at(i, j - 1)]);
      if (j + 1 < side) list.push_back(cell[at(i, j + 1)]);
    }
  Pattern a{side * side, side * side};
  for (auto& list : lists) {
    std::ranges::sort(list);
    a.col_idx.insert(a.col_idx.end(), list.begin(), list.end());
    a.end_row();
  }
  return a;
}

Pattern shuffled_grid(std::int32_t side) {
  return grid(side, random_permutation(side * side, RandomStream(4)));
}

std::int64_t cut_of(const reorder::Graph& graph, const std::vector<std::int32_t>& part) {
  std::int64_t cut = 0;
  for (std::int32_t v = 0; v < graph.vertices; ++v)
    for (const std::int32_t u : graph.of(v))
      cut += u > v && part[static_cast<std::size_t>(u)] != part[static_cast<std::size_t>(v)];
  return cut;
}

// Vertices in the largest component of what is left without the last `removed` of an order.
std::int64_t largest_rest(const reorder::Graph& graph, std::span<const std::int32_t> order,
                          std::size_t removed) {
  std::vector<bool> visited(static_cast<std::size_t>(graph.vertices), false);
  for (const std::int32_t v : order.last(removed)) visited[static_cast<std::size_t>(v)] = true;
  std::size_t largest = 0;
  for (const std::int32_t from : order.first(order.size() - removed)) {
    if (visited[static_cast<std::size_t>(from)]) continue;
    std::vector<std::int32_t> reached = {from};
    visited[static_cast<std::size_t>(from)] = true;
    for (std::size_t i = 0; i < reached.size(); ++i)
      for (const std::int32_t u : graph.of(reached[i]))
        if (!visited[static_cast<std::size_t>(u)]) {
          visited[static_cast<std::size_t>(u)] = true;
          reached.push_back(u);
        }
    largest = std::max(largest, reached.size());
  }
  return static_cast<std::int64_t>(largest);
}

}  // namespace

TEST_CASE("metis: the cut of the parts is the one METIS counted, and small on a grid") {
  const Pattern square = shuffled_grid(64), tall = reorder::random_pattern(900, 200, 0.02, 6);
  for (const Pattern* a : {&square, &tall}) {
    const auto graph = reorder::graph_of(a->view());
    const auto found = reorder::metis_parts(*graph, a->rows, 64, 3);
    REQUIRE(found);
    CHECK(found->edge_cut > 0);
    CHECK(found->edge_cut == cut_of(*graph, found->part));
  }
  const auto graph = reorder::graph_of(square.view());
  const auto found = reorder::metis_parts(*graph, 64 * 64, 256, 3);
  CHECK(found->parts == 16);
  CHECK(found->edge_cut < 700);  // 16 squares of 16 x 16 cut 384 edges, a random partition 7500
}

TEST_CASE("metis: lays out one part after the other, rows of a part in the order given") {
  const Pattern a = shuffled_grid(40);
  const auto graph = reorder::graph_of(a.view());
  const reorder::Setting rows = {"part-rows", 100};
  const auto parts = reorder::metis_parts(*graph, a.rows, 100, 5);
  const auto order = reorder::order_by_metis(a.view(), {.seed = 5, .settings = {&rows, 1}});
  REQUIRE(order);
  CHECK(formats::check_permutation(*order, a.rows).has_value());
  const auto key = [&](std::int32_t r) { return std::pair(parts->part[static_cast<std::size_t>(r)], r); };
  CHECK(std::ranges::is_sorted(*order, {}, key));
}

TEST_CASE("metis: finds planted blocks") {
  // 8 blocks of 32 rows, each complete; vertex v belongs to block v % 8.
  Pattern a{256, 256};
  for (std::int32_t r = 0; r < 256; ++r) {
    for (std::int32_t c = r % 8; c < 256; c += 8) a.col_idx.push_back(c);
    a.end_row();
  }
  const reorder::Setting rows = {"part-rows", 32};
  const auto order = reorder::order_by_metis(a.view(), {.settings = {&rows, 1}});
  REQUIRE(order);
  for (std::size_t i = 0; i < 256; ++i) CHECK((*order)[i] % 8 == (*order)[i - i % 32] % 8);
}

TEST_CASE("metis-nd: the last rows separate the rest in two halves") {
  const Pattern a = shuffled_grid(40);
  const auto order = reorder::order_by_dissection(a.view(), {});
  REQUIRE(order);
  CHECK(formats::check_permutation(*order, a.rows).has_value());
  const auto graph = reorder::graph_of(a.view());
  CHECK(largest_rest(*graph, *order, 60) < 1000);  // of 1540; a line of 40 cells is enough
}

TEST_CASE("metis and metis-nd: follow the seed, and keep empty rows for the end") {
  Pattern a = shuffled_grid(30);
  for (int i = 0; i < 5; ++i) a.row_ptr.insert(a.row_ptr.begin(), 0);
  a.rows += 5;  // now 905 x 900, bipartite
  for (const auto method : {reorder::order_by_metis, reorder::order_by_dissection}) {
    const auto first = method(a.view(), {.seed = 2}), again = method(a.view(), {.seed = 2});
    REQUIRE(first);
    CHECK(*first == *again);
    CHECK(*first != *method(a.view(), {.seed = 3}));
    CHECK(std::vector(first->end() - 5, first->end()) == std::vector<std::int32_t>{0, 1, 2, 3, 4});
  }
}
