// Selects the best of a few cheap orderings.
#pragma once

#include "reorder/core/reorderer.hpp"

namespace sptile::reorder {

/// Compares the original order, degree order, and greedy windows built from either; returns the first with
/// the fewest blocks at options.window_rows, so that the original order is kept unless another one is better.
/// Takes about twice the time of `pack` with its preset `fast`.
Result<std::vector<std::int32_t>> order_by_trial(const formats::CsrView& a, const ReorderOptions& options);

}  // namespace sptile::reorder
