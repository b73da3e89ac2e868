// Packs rows that share columns into windows, one row at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/core/error.hpp"
#include "formats/core/packing_rules.hpp"
#include "formats/core/progress.hpp"
#include "reorder/similarity/column_sets.hpp"

namespace sptile::reorder {

struct GreedyOptions {
  packing::GreedyRules rules;
  Progress* progress = nullptr;
};

/// Work in steps, including rejected proposals.
struct GreedyWork {
  std::int64_t lookups = 0;  ///< rows looked up in lists of columns
  std::int64_t pooled = 0;   ///< nonzeros of rows that were counted exactly
  friend GreedyWork operator+(GreedyWork a, GreedyWork b) {
    return {a.lookups + b.lookups, a.pooled + b.pooled};
  }
};

/// Packs items (nonempty rows in a base order) into windows with few distinct columns and returns their
/// order. A window starts with the free row that shares the most columns with the last window, else with the
/// next one in base order. Each column that enters the window counts for the free rows in its list; the row
/// with the most nonzeros per distinct column is added next.
///
/// Long lists are read only near the current position in the base order, so that a column in nearly every row
/// contributes adjacent rows. The size of the first row bounds the lookups of a window. When the budget is
/// spent, shortest lists first, the window is completed from a pool of the most promising candidates, whose
/// nonzeros are counted exactly (RowPool); rows with hubs thus take the same number of steps per nonzero as
/// others. The remaining candidates are reused for the next window, which has a third of the budget.
///
/// Parallel: several chains of windows grow from different positions of the base order. In a round each chain
/// proposes windows independently; proposals whose rows are still free are then accepted in the order of the
/// chains. Chains and rounds depend only on the matrix's sizes, so the result is the same for any number of
/// threads. If many proposals are rejected, fewer chains run. Memory: 4 bytes per nonzero, 4 items + 8 cols
/// bytes per thread.
Result<std::vector<std::int32_t>> pack_greedily(const ColumnSets& sets, const GreedyOptions& options,
                                                GreedyWork* work = nullptr);

}  // namespace sptile::reorder
