// The structure of a matrix with a number of columns that its entries and rows bound.
#pragma once

#include <cstdint>

#include "formats/core/buffer.hpp"
#include "formats/core/csr_view.hpp"

namespace sptile::formats {

/// Columns from which on they are renumbered: so many times the rows and entries. Below, arrays by column are
/// cheaper than the sort.
inline constexpr std::int64_t kColumnsPerEntry = 4;

/// Whatever keeps an array by column looks at a matrix through this: view().cols is at most
/// kColumnsPerEntry * (rows + entries + 1).
///
/// A matrix that keeps within this bound is borrowed as it stands. Of one with more columns those that have
/// entries are numbered 0, 1, ... in their order, and it stays wider than tall: a matrix that is not square
/// never becomes square. What depends on the order of columns only, not on their ids, does not see the
/// difference.
class CompactColumns {
 public:
  /// `a` must live as long. O(1) where it is borrowed, else O(nnz log nnz), parallel; 8 bytes per entry.
  explicit CompactColumns(const CsrView& a);

  /// The structure, without values.
  [[nodiscard]] const CsrView& view() const { return view_; }

 private:
  Buffer<std::int32_t> col_idx_;  // empty where borrowed
  CsrView view_;
};

}  // namespace sptile::formats
