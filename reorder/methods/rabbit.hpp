// Communities side by side.
#pragma once

#include "reorder/core/reorderer.hpp"

namespace sptile::reorder {

/// Lays out the dendrogram of modularity-greedy merging depth first, so that rows of one community, and of
/// its communities within, stand together: Arai et al., "Rabbit Order" (IPDPS 2016). The graph is that of A +
/// A^T, for a rectangular matrix the bipartite one, whose columns are then left out. Rows without entries
/// come last. About O(nnz), see merge_communities.
Result<std::vector<std::int32_t>> order_by_rabbit(const formats::CsrView& a, const ReorderOptions& options);

}  // namespace sptile::reorder
