// Values of a run that replace those of the matrix.
#pragma once

#include <cstddef>

#include "formats/layout/format_layout.hpp"

namespace sptile::runtime {

/// Returns the format with its value arrays pointing to `values`, which contains them concatenated in packed
/// order. Null: the format's own values.
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
