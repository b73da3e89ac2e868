// Row swaps between windows: the local search that comes after every packing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/core/error.hpp"
#include "reorder/similarity/partners.hpp"

namespace sptile::reorder {

struct SwapOptions {
  int window_rows = 8;
  int passes = 3;  ///< each finds partners anew; a pass that swaps little is the last
  PartnerOptions partners;
};

/// Lets every window exchange rows with the windows whose columns are most like its own (WindowPair), in
/// place. No swap ever raises the sum of 8 x blocks + distinct columns of windows of window_rows rows, at
/// most kTallestPair of them. Pairs are coloured so that each window is in one pair of a colour; the pairs of
/// a colour are improved in parallel, and the result is the same for any number of threads. This is the pair
/// exchange of graph partitioning (Kernighan and Lin, 1970) for the connectivity of windows.
/// O(passes x partners x entries) when swaps are few. Memory: about 8 bytes per entry.
Status swap_rows(const formats::CsrView& a, std::span<std::int32_t> order, const SwapOptions& options);

}  // namespace sptile::reorder
