// Orderings whose memory follows entries and rows, however many columns there are.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/core/compact_columns.hpp"
#include "reorder/core/options.hpp"

namespace sptile::reorder {

/// Runs a method that keeps arrays by column on a matrix that has few of them (see CompactColumns). Not for
/// methods that read column ids as numbers.
template <auto method>
Result<std::vector<std::int32_t>> compacted(const formats::CsrView& a, const ReorderOptions& options) {
  const formats::CompactColumns compact(a);
  return method(compact.view(), options);
}

}  // namespace sptile::reorder
