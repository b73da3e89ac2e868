// CSR as a stored format: `row_ptr`, `col_idx`, `values`. In a bundle it is the binsparse group /csr.
#pragma once

#include "formats/core/csr_view.hpp"
#include "formats/layout/format_layout.hpp"

namespace sptile::formats {

extern const FormatLayout kCsrLayout;

/// Positions of the arrays in FormatView::arrays.
enum class CsrArray : int { row_ptr, col_idx, values };

/// Gives typed access; valid after check_lengths.
CsrView as_csr(const FormatView& view);

/// The other direction; borrows the same arrays.
FormatView as_format(const CsrView& csr);

/// Verifies a CSR matrix: shapes, row_ptr monotone from 0 to nnz, column ids in range and strictly
/// increasing. O(nnz). Names the first broken invariant with row and position.
Status check_csr(const CsrView& csr, int threads = 1);

}  // namespace sptile::formats
