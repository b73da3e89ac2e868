// Orders rows by community.
#pragma once

#include "reorder/core/reorderer.hpp"

namespace sptile::reorder {

/// Depth-first order of the dendrogram of modularity-greedy merging, so that the rows of a community and of
/// its subcommunities are adjacent (Arai et al., "Rabbit Order", IPDPS 2016). Uses the graph of A + A^T, or
/// the bipartite graph of a rectangular matrix, whose columns are then dropped. Empty rows come last. About
/// O(nnz); see merge_communities.
Result<std::vector<std::int32_t>> order_by_rabbit(const formats::CsrView& a, const ReorderOptions& options);

}  // namespace sptile::reorder
