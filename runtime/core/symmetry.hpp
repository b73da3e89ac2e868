// Whether a matrix is its own transpose.
#pragma once

#include "formats/core/csr_view.hpp"

namespace sptile::runtime {

/// True when the matrix equals its transpose, values bit by bit: then each format of one is that of the
/// other, in whatever type its values are stored. So 0 and -0 differ, and a NaN equals one of the same bits.
/// `a` must be a valid CSR matrix, see formats::check_csr. Stops at the first difference; O(nnz + rows).
bool is_symmetric(const formats::CsrView& a);

}  // namespace sptile::runtime
