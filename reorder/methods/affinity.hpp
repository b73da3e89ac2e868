// Orders communities of rows, and similar rows within them.
#pragma once

#include "reorder/core/reorderer.hpp"

namespace sptile::reorder {

inline constexpr Parameter kAffinityParameters[] = {
    {"within", "1 restricts the next row to the same community, 0 does not", 0, 0, 1, true},
    {"partners", "number of candidate successors per row", 8, 1, 64, true},
};

/// Data-affinity-based reordering (Acc-SpMM, section 3.2): refines the depth-first order of the dendrogram of
/// merge_communities. Each row is followed by the free row that shares the most columns with it or, if no row
/// shares any, by the next free row of the depth-first order. The best `partners` of all rows are precomputed
/// in parallel; a row whose partners are all taken searches again among the free rows. O(nnz) for the
/// dendrogram, and at most 2 * CommonNeighbours::kMaxCounts counts per row.
Result<std::vector<std::int32_t>> order_by_affinity(const formats::CsrView& a, const ReorderOptions& options);

}  // namespace sptile::reorder
