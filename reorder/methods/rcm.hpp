// Reverse Cuthill-McKee order, for small bandwidth.
#pragma once

#include "reorder/core/reorderer.hpp"
#include "reorder/graph/graph.hpp"

namespace sptile::reorder {

/// Orders rows by the reversed Cuthill-McKee order of graph_of(a) (Cuthill and McKee, "Reducing the bandwidth
/// of sparse symmetric matrices", ACM 1969; reversed by George, 1971): breadth first from a peripheral vertex
/// of each component, neighbors by ascending degree. Components are ordered by their first vertex. O(nnz log
/// row length), serial. Boost.Graph traverses; start vertices are found here in linear time.
Result<std::vector<std::int32_t>> order_by_rcm(const formats::CsrView& a, const ReorderOptions& options);

/// A pseudo-peripheral vertex of each component with an edge, in the order of the components' first vertices,
/// and the component's number of vertices. Found as by George and Liu ("An implementation of a
/// pseudoperipheral node finder", ACM TOMS 1979), with a bounded number of sweeps. O(vertices + edges).
struct RcmComponent {
  std::int32_t start;
  std::int64_t size;
};
std::vector<RcmComponent> peripheral_starts(const Graph& graph);

}  // namespace sptile::reorder
