// Local search after packing: swaps rows between windows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/core/error.hpp"
#include "reorder/similarity/partners.hpp"

namespace sptile::reorder {

struct SwapOptions {
  int window_rows = 8;
  int passes = 3;  ///< maximum passes with new partners; stops early after few swaps
  PartnerOptions partners;
};

/// Swaps rows between each window and the windows with the most similar columns (WindowPair), in place. No
/// swap increases the sum of 8 x blocks + distinct columns over windows of window_rows rows (at most
/// kTallestPair). Pairs are colored so that each window is in at most one pair per color; pairs of a color
/// are improved in parallel, and the result is the same for any number of threads. This applies the pair
/// exchange of graph partitioning (Kernighan and Lin, 1970) to the connectivity of windows. O(passes x
/// partners x nnz) if there are few swaps. Memory: about 8 bytes per nonzero.
Status swap_rows(const formats::CsrView& a, std::span<std::int32_t> order, const SwapOptions& options);

}  // namespace sptile::reorder
