#include "reorder/graph/graph.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "formats/core/csr.hpp"
#include "formats/core/parallel_loop.hpp"

namespace sptile::reorder {
namespace {

using formats::CsrView;

std::span<const std::int32_t> row(const CsrView& a, std::int64_t r) {
  return a.col_idx.subspan(static_cast<std::size_t>(a.row_ptr[static_cast<std::size_t>(r)]),
                           static_cast<std::size_t>(a.row_nnz(r)));
}

/// Merges two ascending lists, skipping `skip` and duplicates: calls emit(position, id) for each id. Returns
/// their number.
template <class Emit>
std::int64_t merge(std::span<const std::int32_t> x, std::span<const std::int32_t> y, std::int64_t skip,
                   Emit emit) {
  std::int64_t count = 0;
  for (std::size_t i = 0, j = 0; i < x.size() || j < y.size();) {
    const std::int32_t next = j == y.size() || (i < x.size() && x[i] <= y[j]) ? x[i] : y[j];
    i += i < x.size() && x[i] == next;
    j += j < y.size() && y[j] == next;
    if (next != skip) emit(count++, next);
  }
  return count;
}

void sum_degrees(Graph& graph) {
  graph.offsets[0] = 0;
  for (std::int64_t v = 0; v < graph.vertices; ++v) graph.offsets[v + 1] += graph.offsets[v];
  graph.neighbours = formats::Buffer<std::int32_t>(graph.offsets[graph.vertices]);
}

/// Returns the graph of a matrix that equals its transpose: its rows without the diagonal.
Graph graph_of_symmetric(const CsrView& a) {
  Graph graph{a.rows, formats::Buffer<std::int64_t>(a.rows + 1), {}};
  const auto diagonal = [&](std::int64_t v) {
    const std::span<const std::int32_t> list = row(a, v);
    return std::lower_bound(list.begin(), list.end(), static_cast<std::int32_t>(v));
  };
  parallel::loop(std::int64_t{0}, a.rows, [&](std::int64_t v) {
    const std::span<const std::int32_t> list = row(a, v);
    const auto at = diagonal(v);
    graph.offsets[v + 1] = a.row_nnz(v) - (at != list.end() && *at == v);
  });
  sum_degrees(graph);
  parallel::loop(std::int64_t{0}, a.rows, [&](std::int64_t v) {
    const std::span<const std::int32_t> list = row(a, v);
    const auto at = diagonal(v);
    std::int32_t* const out = std::copy(list.begin(), at, graph.neighbours.data() + graph.offsets[v]);
    std::copy(at + (at != list.end() && *at == v), list.end(), out);
  });
  return graph;
}

Graph symmetric_graph(const CsrView& a, const CsrView& transposed) {
  Graph graph{a.rows, formats::Buffer<std::int64_t>(a.rows + 1), {}};
  parallel::loop(std::int64_t{0}, a.rows, [&](std::int64_t v) {
    graph.offsets[v + 1] = merge(row(a, v), row(transposed, v), v, [](std::int64_t, std::int32_t) {});
  });
  sum_degrees(graph);
  parallel::loop(std::int64_t{0}, a.rows, [&](std::int64_t v) {
    std::int32_t* const out = graph.neighbours.data() + graph.offsets[v];
    merge(row(a, v), row(transposed, v), v, [&](std::int64_t i, std::int32_t u) { out[i] = u; });
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
  const bool symmetric = std::ranges::equal(a.row_ptr, transposed.row_ptr.span()) &&
                         std::ranges::equal(a.col_idx, transposed.col_idx.span());
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
