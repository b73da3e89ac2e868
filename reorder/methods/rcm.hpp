// Small bandwidth: the reverse Cuthill-McKee order.
#pragma once

#include "reorder/core/reorderer.hpp"
#include "reorder/graph/graph.hpp"

namespace sptile::reorder {

/// Orders rows by the reverse of the Cuthill-McKee order (Cuthill and McKee, "Reducing the bandwidth of
/// sparse symmetric matrices", ACM 1969; reversed as by George, 1971) of graph_of(a): breadth first from the
/// rim of each component, neighbours by ascending degree. Components follow each other by their first vertex.
/// O(entries log row length), serial; Boost.Graph walks, the start vertices are found here in linear time.
Result<std::vector<std::int32_t>> order_by_rcm(const formats::CsrView& a, const ReorderOptions& options);

/// One vertex at the rim of each component with an edge, by the component's first vertex, and the number of
/// vertices that it has. The rim is sought as by George and Liu ("An implementation of a pseudoperipheral
/// node finder", ACM TOMS 1979), with a bounded number of sweeps. O(vertices + edges).
struct RcmComponent {
  std::int32_t start;
  std::int64_t size;
};
std::vector<RcmComponent> peripheral_starts(const Graph& graph);

}  // namespace sptile::reorder
