// The orders of METIS: parts of a k-way partition, and nested dissection.
#pragma once

#include "reorder/core/reorderer.hpp"
#include "reorder/graph/graph.hpp"

namespace sptile::reorder {

inline constexpr Parameter kMetisParameters[] = {
    {"part-rows", "approximate number of rows per part", 256, 8, 1 << 20, true},
};

/// Lays the parts of a k-way partition of graph_of(a) one after the other, rows of a part in the order given
/// (Karypis and Kumar, "Multilevel k-way partitioning scheme for irregular graphs", JPDC 1998). Serial;
/// Errc::unsupported when the graph does not fit METIS's integers.
Result<std::vector<std::int32_t>> order_by_metis(const formats::CsrView& a, const ReorderOptions& options);

/// Orders by nested dissection of graph_of(a): two sides, then the vertices that separate them, each side
/// alike (George, "Nested dissection of a regular finite element mesh", SINUM 1973). The rest as
/// order_by_metis.
Result<std::vector<std::int32_t>> order_by_dissection(const formats::CsrView& a,
                                                      const ReorderOptions& options);

/// A partition, as METIS gives it. Vertices without neighbours are in no part: -1.
struct MetisParts {
  std::vector<std::int32_t> part;
  std::int32_t parts = 1;
  std::int64_t edge_cut = 0;  ///< edges between parts, by METIS's own count
};

/// Cuts the graph into parts of about part_rows of its first `rows` vertices (for a bipartite graph the
/// others weigh nothing).
Result<MetisParts> metis_parts(const Graph& graph, std::int64_t rows, std::int64_t part_rows,
                               std::uint64_t seed);

}  // namespace sptile::reorder
