// Structure of a matrix after its empty columns are removed, so that its width is O(rows + nnz).
#pragma once

#include <cstdint>

#include "formats/core/buffer.hpp"
#include "formats/core/compact_rule.hpp"
#include "formats/core/csr_view.hpp"

namespace sptile::formats {

/// Bounds the width of a matrix for algorithms that keep arrays indexed by column: view().cols is at most
/// kColumnsPerEntry * (rows + nnz + 1).
///
/// Borrows a matrix within this bound. Otherwise numbers the nonempty columns 0, 1, ... in ascending order;
/// the result stays wider than tall, so a matrix that is not square never becomes square. Algorithms that
/// depend only on the order of columns give the same result.
class CompactColumns {
 public:
  /// `a` must outlive this object. O(1) if the matrix is borrowed, else O(nnz log nnz), parallel; 8 bytes per
  /// nonzero.
  explicit CompactColumns(const CsrView& a);

  /// Returns the structure, without values.
  [[nodiscard]] const CsrView& view() const { return view_; }

 private:
  Buffer<std::int32_t> col_idx_;  // empty if the matrix is borrowed
  CsrView view_;
};

}  // namespace sptile::formats
