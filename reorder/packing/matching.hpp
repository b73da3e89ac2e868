// Pairs of like items, pairs of pairs, and so on: windows of every height from one hierarchy.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/core/error.hpp"
#include "reorder/similarity/partners.hpp"

namespace sptile::reorder {

struct MatchingOptions {
  int window_rows = 1;            ///< rows of an item at the start: consecutive ones in the order
  std::int64_t most_rows = 1024;  ///< items do not grow beyond this
  int rounds = 10;                ///< searches for partners per level, each among those left over
  PartnerOptions partners;
};

/// Rearranges windows of consecutive rows of `order` so that windows of double, four-fold, ... height hold
/// few distinct columns: on each level items are matched, most alike pairs first (greedily, hence at least
/// half the best possible weight), what finds no partner takes the next one, and pairs become items. A rest
/// of fewer than window_rows rows stays last. Every window of window_rows rows keeps its rows.
///
/// O(levels x (entries x longest_list + items log items)) at most, parallel, the same for any number of
/// threads. Memory: about 8 bytes per entry, and 12 per item and partner.
Result<std::vector<std::int32_t>> match_upwards(const formats::CsrView& a,
                                                std::span<const std::int32_t> order,
                                                const MatchingOptions& options);

/// Chooses pairs in which no item occurs twice, going through `pairs` in their order; `mate[item]` becomes
/// the partner. Items that have a mate keep it. Returns the number of pairs chosen.
std::int64_t match_greedily(std::span<const Pair> pairs, std::span<std::int32_t> mate);

}  // namespace sptile::reorder
