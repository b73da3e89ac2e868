// CSR as a stored format: `row_ptr`, `col_idx`, `values`. Bundles store it as the binsparse group /csr.
#pragma once

#include "formats/core/csr_view.hpp"
#include "formats/layout/format_layout.hpp"

namespace sptile::formats {

extern const FormatLayout kCsrLayout;

/// Positions of the arrays in FormatView::arrays.
enum class CsrArray : int { row_ptr, col_idx, values };

/// Returns typed views of the arrays; valid after check_lengths.
CsrView as_csr(const FormatView& view);

/// Returns the matrix as a FormatView that borrows the same arrays.
FormatView as_format(const CsrView& csr);

/// Verifies a CSR matrix: shape, row_ptr non-decreasing from 0 to nnz, column ids in range and strictly
/// increasing. O(nnz). The error names the first violation with row and position.
Status check_csr(const CsrView& csr, int threads = 1);

}  // namespace sptile::formats
