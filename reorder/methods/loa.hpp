// Fills windows with the rows that add the most nonzeros per column.
#pragma once

#include "reorder/core/reorderer.hpp"

namespace sptile::reorder {

inline constexpr Parameter kLoaParameters[] = {
    {"window", "candidate rows considered per step (VW); 0 considers all", 300, 0, 1e9, true},
};

/// Sorts the rows by first column, then fills one window after the other (HyGNN, Algorithm 4, LOA): the first
/// free row, followed repeatedly by the row among the next `window` rows of the list with the most nonzeros
/// per distinct column, then the most nonzeros. Columns are counted when they enter the window. Ranges of at
/// least 2048 rows of the list are filled independently, in parallel; they depend only on the matrix. O(nnz)
/// to sort rows and columns, plus at most `window` counts per nonzero. Memory: twice the structure, 8 bytes
/// per column and thread.
Result<std::vector<std::int32_t>> order_by_loa(const formats::CsrView& a, const ReorderOptions& options);

}  // namespace sptile::reorder
