// The original order.
#pragma once

#include "reorder/core/reorderer.hpp"

namespace sptile::reorder {

/// Returns 0, 1, 2, ..., the baseline of comparisons. O(rows).
Result<std::vector<std::int32_t>> order_identity(const formats::CsrView& a, const ReorderOptions& options);

}  // namespace sptile::reorder
