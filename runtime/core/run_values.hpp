// Values that a run has in place of those of the matrix.
#pragma once

#include <cstddef>

#include "formats/layout/format_layout.hpp"

namespace sptile::runtime {

/// A format with the values of a run, packed: they stand in its value arrays one after the other. Null: with
/// its own.
inline formats::FormatView with_values(const formats::FormatView& format, const void* values) {
  formats::FormatView same = format;
  if (values == nullptr) return same;
  const auto* next = static_cast<const std::byte*>(values);
  for (std::size_t i = 0; i < same.layout->arrays.size(); ++i) {
    if (!same.layout->arrays[i].holds_values) continue;
    same.arrays[i].data = next;
    next += same.arrays[i].bytes();
  }
  return same;
}

}  // namespace sptile::runtime
