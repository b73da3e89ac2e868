// Communities, and within them rows that share columns, side by side.
#pragma once

#include "reorder/core/reorderer.hpp"

namespace sptile::reorder {

inline constexpr Parameter kAffinityParameters[] = {
    {"within", "1 restricts the next row to the same community, 0 does not", 0, 0, 1, true},
    {"partners", "number of candidate successors per row", 8, 1, 64, true},
};

/// Acc-SpMM, section 3.2 (data-affinity-based reordering): the depth-first order of the dendrogram of
/// merge_communities, refined: after each row stands the free row that shares most columns with it; only when
/// none shares any, the next free row of the depth-first order. The best `partners` of all rows are found in
/// parallel, beforehand; a row whose partners are all taken looks again among the free rows.
/// O(nnz) for the dendrogram and at most CommonNeighbours::kMostCounts counts a row, twice.
Result<std::vector<std::int32_t>> order_by_affinity(const formats::CsrView& a, const ReorderOptions& options);

}  // namespace sptile::reorder
