#include "reorder/graph/by_degree.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "formats/core/counting_sort.hpp"
#include "formats/core/parallel_sort.hpp"

namespace sptile::reorder {

DegreeOrder by_ascending_degree(const Graph& graph) {
  constexpr std::int64_t kHigh = 1 << 10;  // few vertices have a higher degree; they are sorted afterwards
  const std::int64_t n = graph.vertices;
  DegreeOrder order{formats::Buffer<std::int32_t>(n), formats::Buffer<std::int32_t>(n)};
  const std::int64_t parts = formats::sort_parts(n, kHigh + 1);
  const auto starts = formats::counting_sort(
      kHigh + 1, static_cast<int>(parts),
      [&](int part, auto&& sink) {
        for (std::int64_t v = n * part / parts; v < n * (part + 1) / parts; ++v)
          sink(std::min(graph.degree(v), kHigh), v);
      },
      [&](std::int64_t position, std::int64_t v) {
        order.vertices[position] = static_cast<std::int32_t>(v);
        order.degrees[position] = static_cast<std::int32_t>(graph.degree(v));
      });
  const std::int64_t high = starts[kHigh];
  std::vector<std::pair<std::int32_t, std::int32_t>> tail;  // degree, vertex
  for (std::int64_t i = high; i < n; ++i) tail.emplace_back(order.degrees[i], order.vertices[i]);
  parallel::sort(tail.begin(), tail.end());
  for (std::int64_t i = high; i < n; ++i)
    std::tie(order.degrees[i], order.vertices[i]) = tail[static_cast<std::size_t>(i - high)];
  return order;
}

}  // namespace sptile::reorder
