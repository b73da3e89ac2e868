// Rows by their number of entries.
#pragma once

#include "reorder/core/reorderer.hpp"

namespace sptile::reorder {

/// Sorts rows by descending number of entries; equal rows keep their order. Windows then hold rows of like
/// length, and heavy rows, which share columns most, stand together. O(rows + longest row), parallel.
Result<std::vector<std::int32_t>> order_by_degree(const formats::CsrView& a, const ReorderOptions& options);

}  // namespace sptile::reorder
