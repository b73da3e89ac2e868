// For each item, the items whose columns are most like its own.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/core/buffer.hpp"
#include "formats/core/progress.hpp"
#include "reorder/similarity/column_sets.hpp"

namespace sptile::reorder {

/// Two items, x < y, and how alike they are.
struct Pair {
  float likeness;
  std::int32_t x, y;
};

struct PartnerOptions {
  int partners = 4;                   ///< kept per item
  int longest_list = 64;              ///< items that one column brings
  std::int64_t item_lookups = 16384;  ///< items that one item is compared through, whatever its size
  Progress* progress = nullptr;
};

/// What counts when items are compared. A column that d items hold weighs d^-1/2: rare ones say more.
struct Weights {
  formats::Buffer<float> of_column;
  formats::Buffer<float> of_item;  ///< sum over its columns
};

Weights weigh(const ColumnSets& sets, const ColumnLists& lists);

/// Pairs every item with its `partners` most alike ones by weighted Jaccard index of their column sets, most
/// alike first; no pair twice. Items with used[item] != 0 (an empty span: none) stay out. Of
/// a long list only the part around the item itself is looked at: neighbours in the order of the items,
/// which is local by the time lists are long. At most max(item_lookups, 4 x size) steps per item, parallel,
/// the same for any number of threads. Stops early when cancelled.
std::vector<Pair> alike_pairs(const ColumnSets& sets, const ColumnLists& lists, const Weights& weights,
                              std::span<const std::uint8_t> used, const PartnerOptions& options);

}  // namespace sptile::reorder
