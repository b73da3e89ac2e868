#include "reorder/graph/graph.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace sptile;

namespace {

std::vector<std::vector<std::int32_t>> lists(const reorder::Graph& graph) {
  std::vector<std::vector<std::int32_t>> result;
  for (std::int64_t v = 0; v < graph.vertices; ++v)
    result.emplace_back(graph.of(v).begin(), graph.of(v).end());
  return result;
}

}  // namespace

TEST_CASE("graph: a square matrix gives A + A^T without the diagonal") {
  const std::vector<std::int64_t> row_ptr = {0, 2, 3, 3, 5};  // 0: {0, 3}, 1: {2}, 3: {0, 3}
  const std::vector<std::int32_t> col_idx = {0, 3, 2, 0, 3};
  const auto graph = reorder::graph_of({4, 4, row_ptr, col_idx, {}});
  REQUIRE(graph);
  CHECK(lists(*graph) == std::vector<std::vector<std::int32_t>>{{3}, {2}, {1}, {0}});
}

TEST_CASE("graph: a rectangular matrix gives rows, then columns") {
  const std::vector<std::int64_t> row_ptr = {0, 2, 3};  // 0: {0, 2}, 1: {2}
  const std::vector<std::int32_t> col_idx = {0, 2, 2};
  const auto graph = reorder::graph_of({2, 3, row_ptr, col_idx, {}});
  REQUIRE(graph);
  CHECK(lists(*graph) == std::vector<std::vector<std::int32_t>>{{2, 4}, {4}, {0}, {}, {0, 1}});
}

TEST_CASE("graph: too many vertices are refused") {
  const std::vector<std::int64_t> row_ptr = {0, 0};
  const auto graph = reorder::graph_of({1, 2147483647, row_ptr, {}, {}});
  REQUIRE_FALSE(graph);
  CHECK(graph.error().code == Errc::unsupported);
}
