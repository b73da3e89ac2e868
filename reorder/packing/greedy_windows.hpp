// Windows of rows that share columns, packed one row at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/core/error.hpp"
#include "formats/core/progress.hpp"
#include "reorder/similarity/column_sets.hpp"

namespace sptile::reorder {

struct GreedyOptions {
  int window_rows = 8;
  int longest_list = 256;  ///< rows that one column may bring into a window
  int lookups = 8;         ///< rows looked up for a window, for each of its rows and entry of the first one
  Progress* progress = nullptr;
};

/// What was done, in steps; windows that were proposed in vain count.
struct GreedyWork {
  std::int64_t lookups = 0;  ///< rows that were looked up in lists of columns
  std::int64_t pooled = 0;   ///< entries of rows that were counted exactly
  friend GreedyWork operator+(GreedyWork a, GreedyWork b) {
    return {a.lookups + b.lookups, a.pooled + b.pooled};
  }
};

/// Packs items (rows in a base order, none empty) into windows that hold few distinct columns, and returns
/// their order. A window starts from the free row that shares most with the last window, else from the next
/// one of the base order. Each column that enters the window counts for the free rows in its list; the row
/// with the most entries per distinct column comes next.
///
/// Long lists are looked at only next to the place that the base order has reached, so a column that is in
/// nearly every row brings rows that stand together in the base order. What a window may look up is bounded
/// by the size of its first row. Once it is used up, shortest lists first, the window is finished from a pool
/// of the most promising rows so far, whose entries are counted exactly (RowPool): so rows with hubs cost as
/// many steps per entry as others. The rows that were met and not taken then serve the next window, too,
/// which looks up a third as much.
///
/// Parallel: several chains of windows grow from different places of the base order. In a round each chain
/// proposes windows as if it were alone; proposals are then accepted in the order of the chains where their
/// rows are still free. Chains and rounds follow from the sizes of the matrix alone, so the result is the
/// same for any number of threads. Where many proposals are refused, fewer chains run. Memory: 4 bytes per
/// entry, 4 items + 8 cols bytes per thread.
Result<std::vector<std::int32_t>> pack_greedily(const ColumnSets& sets, const GreedyOptions& options,
                                                GreedyWork* work = nullptr);

}  // namespace sptile::reorder
