// Rows of entries, for steps over the entries of a CSR matrix, or over the tiles of windows, in order.
#pragma once

#include "runtime/cuda/convert/bits.hpp"

namespace sptile::runtime::cuda {

/// Each step processes four entries, so that a row is searched once for them.
template <class Offset>
struct OffsetRows {
  static constexpr std::int64_t kEntries = 4, kLanes = 32;

  const Offset* row_ptr;
  std::int64_t rows, entries;

  /// Numbers of steps for visit and visit_apart.
  [[nodiscard]] std::int64_t steps() const { return (entries + kEntries - 1) / kEntries; }
  [[nodiscard]] std::int64_t steps_apart() const {
    return (entries + kEntries * kLanes - 1) / (kEntries * kLanes) * kLanes;
  }
  /// Calls f(entry, row) for consecutive entries.
  template <class F>
  SPTILE_HOST_DEVICE void visit(std::int64_t step, const F& f) const {
    visit(kEntries * step, 1, f);
  }
  /// Works like visit, with entries 32 apart: adjacent steps then read adjacent entries.
  template <class F>
  SPTILE_HOST_DEVICE void visit_apart(std::int64_t step, const F& f) const {
    visit(kEntries * kLanes * (step / kLanes) + step % kLanes, kLanes, f);
  }
  /// Returns the first entry of a row with at least this column, or the end of the row.
  SPTILE_HOST_DEVICE std::int64_t find(const std::int32_t* col_idx, std::int64_t row,
                                       std::int32_t column) const {
    const std::int64_t begin = row_ptr[row];
    return begin + lower_bound(col_idx + begin, row_ptr[row + 1] - begin, column);
  }
  SPTILE_HOST_DEVICE bool has(const std::int32_t* col_idx, std::int64_t row, std::int32_t column) const {
    const std::int64_t found = find(col_idx, row, column);
    return found < row_ptr[row + 1] && col_idx[found] == column;
  }

 private:
  template <class F>
  SPTILE_HOST_DEVICE void visit(std::int64_t first, std::int64_t apart, const F& f) const {
    if (first >= entries) return;
    std::int64_t row = last_at_most(row_ptr, rows, first);
    for (std::int64_t i = first; i < first + kEntries * apart && i < entries; i += apart) {
      if (i >= row_ptr[row + 1]) row += last_at_most(row_ptr + row, rows - row, i);
      f(i, row);
    }
  }
};

using CsrRows = OffsetRows<std::int64_t>;

}  // namespace sptile::runtime::cuda
