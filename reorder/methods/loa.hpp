// Rows of a window chosen by the entries per column that they bring.
#pragma once

#include "reorder/core/reorderer.hpp"

namespace sptile::reorder {

inline constexpr Parameter kLoaParameters[] = {
    {"window", "candidate rows considered per step (VW); 0 considers all", 300, 0, 1e9, true},
};

/// Sorts the rows by their first column, then fills one window after the other: the first free row, then
/// always the row among the next `window` of the list that gives the most entries per distinct column, of
/// equals the one with most entries. HyGNN, Algorithm 4 (LOA). Columns shared with the window are counted as
/// columns enter it. O(nnz log) for sorting columns, then at most `window` counts for each entry of a row.
Result<std::vector<std::int32_t>> order_by_loa(const formats::CsrView& a, const ReorderOptions& options);

}  // namespace sptile::reorder
