// Undirected graph of a matrix, the input of graph orderings.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/core/buffer.hpp"
#include "formats/core/csr_view.hpp"
#include "formats/core/error.hpp"

namespace sptile::reorder {

/// An undirected graph without loops as adjacency lists. The neighbors of v are at offsets[v] .. offsets[v +
/// 1], ascending; each edge is in both lists. Vertices 0 .. rows - 1 are the rows of the matrix.
struct Graph {
  std::int64_t vertices = 0;
  formats::Buffer<std::int64_t> offsets;
  formats::Buffer<std::int32_t> neighbours;

  [[nodiscard]] std::int64_t degree(std::int64_t v) const { return offsets[v + 1] - offsets[v]; }
  [[nodiscard]] std::span<const std::int32_t> of(std::int64_t v) const {
    return {neighbours.data() + offsets[v], static_cast<std::size_t>(degree(v))};
  }
};

/// Returns the graph of A + A^T for a square matrix, and otherwise the bipartite graph in which column c is
/// vertex rows + c. Errc::unsupported if rows + columns exceeds 2^31 - 1. O(nnz + rows + cols), parallel.
Result<Graph> graph_of(const formats::CsrView& a);

/// Extends an order of the vertices with neighbors to all rows. Columns are dropped; rows with only a
/// diagonal nonzero follow, then empty rows, each group in the given order. O(vertices).
std::vector<std::int32_t> rows_in_order(const formats::CsrView& a, const Graph& graph,
                                        std::span<const std::int32_t> vertices);

}  // namespace sptile::reorder
