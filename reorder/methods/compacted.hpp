// Orderings with memory O(nnz + rows), independent of the number of columns.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/core/compact_columns.hpp"
#include "reorder/core/options.hpp"

namespace sptile::reorder {

/// Runs a method that keeps arrays indexed by column on a matrix without empty columns (see CompactColumns).
/// Not for methods that use column ids as numbers.
template <auto method>
Result<std::vector<std::int32_t>> compacted(const formats::CsrView& a, const ReorderOptions& options) {
  const formats::CompactColumns compact(a);
  return method(compact.view(), options);
}

}  // namespace sptile::reorder
