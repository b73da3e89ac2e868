// Slow builder of csr, row by row.
#pragma once

#include "tests/formats/slow/slow.hpp"

namespace sptile::tests {

inline SlowArrays slow_csr(const Rows& rows, const formats::FormatView&) {
  SlowArrays arrays{{"row_ptr", {0}}, {"col_idx", {}}, {"values", {}}};
  for (const auto& row : rows) {
    for (const std::int32_t c : row) {
      arrays["values"].push_back(arrays["col_idx"].size());
      arrays["col_idx"].push_back(static_cast<std::uint64_t>(c));
    }
    arrays["row_ptr"].push_back(arrays["col_idx"].size());
  }
  return arrays;
}

}  // namespace sptile::tests
