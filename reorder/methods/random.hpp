// A random order.
#pragma once

#include "reorder/core/reorderer.hpp"

namespace sptile::reorder {

/// Shuffles the rows with options.seed, the worst case for locality. O(rows).
Result<std::vector<std::int32_t>> order_randomly(const formats::CsrView& a, const ReorderOptions& options);

}  // namespace sptile::reorder
