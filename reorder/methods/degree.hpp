// Orders rows by their number of nonzeros.
#pragma once

#include "reorder/core/reorderer.hpp"

namespace sptile::reorder {

/// Sorts rows by descending number of nonzeros (stable). Windows then contain rows of similar length, and
/// heavy rows, which share the most columns, are adjacent. O(rows + longest row), parallel.
Result<std::vector<std::int32_t>> order_by_degree(const formats::CsrView& a, const ReorderOptions& options);

}  // namespace sptile::reorder
