// Orderings of METIS: k-way partitioning and nested dissection.
#pragma once

#include "reorder/core/reorderer.hpp"
#include "reorder/graph/graph.hpp"

namespace sptile::reorder {

inline constexpr Parameter kMetisParameters[] = {
    {"part-rows", "approximate number of rows per part", 256, 8, 1 << 20, true},
};

/// Concatenates the parts of a k-way partition of graph_of(a), with the rows of a part in the original order
/// (Karypis and Kumar, "Multilevel k-way partitioning scheme for irregular graphs", JPDC 1998). Serial;
/// Errc::unsupported if the graph exceeds METIS's integers.
Result<std::vector<std::int32_t>> order_by_metis(const formats::CsrView& a, const ReorderOptions& options);

/// Nested dissection of graph_of(a): recursively orders two halves, then the vertices that separate them
/// (George, "Nested dissection of a regular finite element mesh", SINUM 1973). Serial; errors as in
/// order_by_metis.
Result<std::vector<std::int32_t>> order_by_dissection(const formats::CsrView& a,
                                                      const ReorderOptions& options);

/// A partition by METIS. Vertices without neighbors have part -1.
struct MetisParts {
  std::vector<std::int32_t> part;
  std::int32_t parts = 1;
  std::int64_t edge_cut = 0;  ///< edges between parts, as counted by METIS
};

/// Partitions the graph into parts with about part_rows of its first `rows` vertices; the other vertices of a
/// bipartite graph have weight 0.
Result<MetisParts> metis_parts(const Graph& graph, std::int64_t rows, std::int64_t part_rows,
                               std::uint64_t seed);

}  // namespace sptile::reorder
