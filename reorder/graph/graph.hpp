// The graph whose vertices graph orderings put in a row.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/core/buffer.hpp"
#include "formats/core/csr_view.hpp"
#include "formats/core/error.hpp"

namespace sptile::reorder {

/// An undirected graph without loops in adjacency lists: neighbours of v at offsets[v] .. offsets[v + 1],
/// ascending, each edge in both lists. Vertices 0 .. rows - 1 are the rows of the matrix.
struct Graph {
  std::int64_t vertices = 0;
  formats::Buffer<std::int64_t> offsets;
  formats::Buffer<std::int32_t> neighbours;

  [[nodiscard]] std::int64_t degree(std::int64_t v) const { return offsets[v + 1] - offsets[v]; }
  [[nodiscard]] std::span<const std::int32_t> of(std::int64_t v) const {
    return {neighbours.data() + offsets[v], static_cast<std::size_t>(degree(v))};
  }
};

/// The graph of A + A^T for a square matrix. For a rectangular one the bipartite graph, where column c is
/// vertex rows + c; Errc::unsupported when rows + columns pass 2^31 - 1. O(nnz + rows + cols), parallel.
Result<Graph> graph_of(const formats::CsrView& a);

/// Turns an order of the vertices that have neighbours into one of all rows: columns drop out, then come the
/// other rows with entries (on the diagonal only), then the rows without, each in the order given.
/// O(vertices).
std::vector<std::int32_t> rows_in_order(const formats::CsrView& a, const Graph& graph,
                                        std::span<const std::int32_t> vertices);

}  // namespace sptile::reorder
