// Finds, for each item, the items with the most similar columns.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/core/buffer.hpp"
#include "formats/core/progress.hpp"
#include "reorder/similarity/column_sets.hpp"

namespace sptile::reorder {

/// Two items, x < y, and their similarity.
struct Pair {
  float similarity;
  std::int32_t x, y;
};

struct PartnerOptions {
  int partners = 4;                   ///< kept per item
  int longest_list = 64;              ///< items visited per column
  std::int64_t item_lookups = 16384;  ///< maximum items visited per item, regardless of its size
  Progress* progress = nullptr;
};

/// Weights for comparing items. A column in d items has weight d^-1/2: rare columns are more significant.
struct Weights {
  formats::Buffer<float> of_column;
  formats::Buffer<float> of_item;  ///< sum over its columns
};

Weights weigh(const ColumnSets& sets, const ColumnLists& lists);

/// Returns pairs of each item and its `partners` most similar items by weighted Jaccard index of their column
/// sets, most similar first, without duplicates. Items with used[item] != 0 are excluded (empty span: none).
/// Of a long list only the part around the item is visited: neighbors in the order of the items, which is
/// local by the time lists are long. At most max(item_lookups, 4 x size) steps per item, parallel, the same
/// for any number of threads. Stops early when cancelled.
std::vector<Pair> alike_pairs(const ColumnSets& sets, const ColumnLists& lists, const Weights& weights,
                              std::span<const std::uint8_t> used, const PartnerOptions& options);

}  // namespace sptile::reorder
