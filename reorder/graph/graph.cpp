#include "reorder/graph/graph.hpp"

#include <tbb/blocked_range.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <string>

#include "formats/core/csr.hpp"
#include "formats/core/parallel_loop.hpp"
#include "formats/core/parallel_reduce.hpp"

namespace sptile::reorder {
namespace {

using formats::CsrView;

std::span<const std::int32_t> row(const CsrView& a, std::int64_t r) {
  return a.col_idx.subspan(static_cast<std::size_t>(a.row_ptr[static_cast<std::size_t>(r)]),
                           static_cast<std::size_t>(a.row_nnz(r)));
}

/// Merges two ascending lists without duplicates: calls emit(position, id) for each id, from `count` on.
/// Returns the next position. Branch-free, because branches on which list continues would be unpredictable.
template <class Emit>
std::int64_t merge(std::span<const std::int32_t> x, std::span<const std::int32_t> y, std::int64_t count,
                   const Emit& emit) {
  std::size_t i = 0, j = 0;
  while (i < x.size() && j < y.size()) {
    const std::int32_t in_x = x[i], in_y = y[j];
    emit(count++, std::min(in_x, in_y));
    i += in_x <= in_y;
    j += in_y <= in_x;
  }
  for (; i < x.size(); ++i) emit(count++, x[i]);
  for (; j < y.size(); ++j) emit(count++, y[j]);
  return count;
}

/// The parts of an ascending list before and after an id.
struct Sides {
  std::span<const std::int32_t> before, after;
};
Sides without(std::span<const std::int32_t> list, std::int64_t id) {
  const auto at = std::lower_bound(list.begin(), list.end(), id);
  return {{list.begin(), at}, {at + (at != list.end() && *at == id), list.end()}};
}

/// Calls emit(position, u) for each neighbor u of row v in A + A^T; returns their number.
template <class Emit>
std::int64_t neighbours_of(const CsrView& a, const CsrView& transposed, std::int64_t v, const Emit& emit) {
  const Sides out = without(row(a, v), v), in = without(row(transposed, v), v);
  return merge(out.after, in.after, merge(out.before, in.before, 0, emit), emit);
}

bool equal(std::span<const std::int32_t> x, std::span<const std::int32_t> y) {
  constexpr std::int64_t kGrain = 1 << 18;
  return x.size() == y.size() && parallel::reduce(
                                     tbb::blocked_range<std::int64_t>(0, std::ssize(x), kGrain), true,
                                     [&](const auto& range, bool same) {
                                       return same &&
                                              std::equal(x.begin() + range.begin(), x.begin() + range.end(),
                                                         y.begin() + range.begin());
                                     },
                                     std::logical_and<>());
}

void sum_degrees(Graph& graph) {
  graph.offsets[0] = 0;
  for (std::int64_t v = 0; v < graph.vertices; ++v) graph.offsets[v + 1] += graph.offsets[v];
  graph.neighbours = formats::Buffer<std::int32_t>(graph.offsets[graph.vertices]);
}

/// Returns the graph of a matrix that equals its transpose: its rows without the diagonal.
Graph graph_of_symmetric(const CsrView& a) {
  Graph graph{a.rows, formats::Buffer<std::int64_t>(a.rows + 1), {}};
  parallel::loop(std::int64_t{0}, a.rows, [&](std::int64_t v) {
    const Sides sides = without(row(a, v), v);
    graph.offsets[v + 1] = static_cast<std::int64_t>(sides.before.size() + sides.after.size());
  });
  sum_degrees(graph);
  parallel::loop(std::int64_t{0}, a.rows, [&](std::int64_t v) {
    const Sides sides = without(row(a, v), v);
    const auto after = std::ranges::copy(sides.before, graph.neighbours.data() + graph.offsets[v]).out;
    std::ranges::copy(sides.after, after);
  });
  return graph;
}

Graph symmetric_graph(const CsrView& a, const CsrView& transposed) {
  Graph graph{a.rows, formats::Buffer<std::int64_t>(a.rows + 1), {}};
  parallel::loop(std::int64_t{0}, a.rows, [&](std::int64_t v) {
    graph.offsets[v + 1] = neighbours_of(a, transposed, v, [](std::int64_t, std::int32_t) {});
  });
  sum_degrees(graph);
  parallel::loop(std::int64_t{0}, a.rows, [&](std::int64_t v) {
    std::int32_t* const list = graph.neighbours.data() + graph.offsets[v];
    neighbours_of(a, transposed, v, [&](std::int64_t i, std::int32_t u) { list[i] = u; });
  });
  return graph;
}

Graph bipartite_graph(const CsrView& a, const CsrView& transposed) {
  Graph graph{a.rows + a.cols, formats::Buffer<std::int64_t>(a.rows + a.cols + 1), {}};
  const auto list = [&](std::int64_t v) { return v < a.rows ? row(a, v) : row(transposed, v - a.rows); };
  parallel::loop(std::int64_t{0}, graph.vertices,
                 [&](std::int64_t v) { graph.offsets[v + 1] = static_cast<std::int64_t>(list(v).size()); });
  sum_degrees(graph);
  parallel::loop(std::int64_t{0}, graph.vertices, [&](std::int64_t v) {
    const auto shift = static_cast<std::int32_t>(v < a.rows ? a.rows : 0);
    std::ranges::transform(list(v), graph.neighbours.data() + graph.offsets[v],
                           [&](std::int32_t u) { return u + shift; });
  });
  return graph;
}

}  // namespace

Result<Graph> graph_of(const CsrView& a) {
  if (a.rows != a.cols && a.rows + a.cols > std::numeric_limits<std::int32_t>::max())
    return fail(Errc::unsupported, "the bipartite graph of a " + std::to_string(a.rows) + " x " +
                                       std::to_string(a.cols) +
                                       " matrix has more than 2147483647 vertices; use an ordering that "
                                       "needs no graph, for example degree");
  const formats::Csr transposed = formats::transpose({a.rows, a.cols, a.row_ptr, a.col_idx, {}});
  if (a.rows != a.cols) return bipartite_graph(a, transposed.view());
  const bool symmetric =
      std::ranges::equal(a.row_ptr, transposed.row_ptr.span()) && equal(a.col_idx, transposed.col_idx.span());
  return symmetric ? graph_of_symmetric(a) : symmetric_graph(a, transposed.view());
}

std::vector<std::int32_t> rows_in_order(const CsrView& a, const Graph& graph,
                                        std::span<const std::int32_t> vertices) {
  std::vector<std::int32_t> order;
  order.reserve(static_cast<std::size_t>(a.rows));
  // An empty row may have neighbors through its column.
  for (const std::int32_t v : vertices)
    if (v < a.rows && a.row_nnz(v) > 0) order.push_back(v);
  for (std::int64_t r = 0; r < a.rows; ++r)
    if (a.row_nnz(r) > 0 && graph.degree(r) == 0) order.push_back(static_cast<std::int32_t>(r));
  for (std::int64_t r = 0; r < a.rows; ++r)
    if (a.row_nnz(r) == 0) order.push_back(static_cast<std::int32_t>(r));
  return order;
}

}  // namespace sptile::reorder
