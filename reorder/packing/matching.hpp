// Hierarchical matching of similar items: windows of every height from one hierarchy.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/core/error.hpp"
#include "reorder/similarity/partners.hpp"

namespace sptile::reorder {

struct MatchingOptions {
  int window_rows = 1;           ///< initial rows per item, consecutive in the order
  std::int64_t max_rows = 1024;  ///< maximum rows per item
  int rounds = 10;               ///< searches for partners per level, among the unmatched items
  PartnerOptions partners;
};

/// Rearranges windows of consecutive rows of `order` so that windows of 2, 4, ... times the height have few
/// distinct columns. On each level, items are matched greedily, most similar pairs first (hence with at least
/// half the optimal weight), unmatched items are paired in order, and pairs become the items of the next
/// level. An incomplete last window stays last. Every window of window_rows rows keeps its rows.
///
/// At most O(levels x (nnz x longest_list + items log items)), parallel, the same for any number of threads.
/// Memory: about 8 bytes per nonzero, and 12 per item and partner.
Result<std::vector<std::int32_t>> match_upwards(const formats::CsrView& a,
                                                std::span<const std::int32_t> order,
                                                const MatchingOptions& options);

/// Selects disjoint pairs greedily in the order of `pairs`; `mate[item]` becomes the partner. Items with a
/// mate keep it. Returns the number of selected pairs.
std::int64_t match_greedily(std::span<const Pair> pairs, std::span<std::int32_t> mate);

}  // namespace sptile::reorder
