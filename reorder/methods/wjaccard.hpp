// Orders rows along a path through their most similar rows.
#pragma once

#include <array>

#include "reorder/core/reorderer.hpp"

namespace sptile::reorder {

inline constexpr std::array<Parameter, 6> kWJaccardParameters = {{
    {"neighbours", "most similar rows kept for each row", 10, 1, 256, true},
    {"alpha", "column weight is entries^-alpha; 0 weights all columns equally", 0.5, 0, 4, false},
    {"list-rows", "maximum rows sampled per column", 64, 2, 1 << 20, true},
    {"visits", "maximum candidates per row, rarest columns first", 2048, 1, 1 << 30, true},
    {"stretch", "rows per 2-opt segment; 0 disables 2-opt", 64, 0, 64, true},
    {"isolation", "minimum similarity ratio to move a row; 0 disables moves", 2, 0, 1e6, false},
}};

/// Orders the rows of any matrix as in RSH-SpMM, section 3.4 (Algorithm 3): nearest rows by weighted Jaccard
/// similarity (nearest_rows.hpp), a maximum spanning forest over them, its depth-first traversal, 2-opt in
/// stretches, and a final step that moves rows with dissimilar neighbors next to their nearest row that
/// stays, or after all others if there is none. Rows that share no column come after these, then empty rows,
/// both in their order. O(nnz + rows * visits) for any degrees; parallel except for the traversal. Memory:
/// that of nearest_rows, and 12 bytes per neighbor of each row.
Result<std::vector<std::int32_t>> order_by_weighted_jaccard(const formats::CsrView& a,
                                                            const ReorderOptions& options);

}  // namespace sptile::reorder
