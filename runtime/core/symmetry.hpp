// Test for symmetric matrices.
#pragma once

#include "formats/core/csr_view.hpp"

namespace sptile::runtime {

/// Returns whether the matrix equals its transpose, with values compared bit by bit: 0 and -0 differ, and a
/// NaN equals a NaN of the same bits. Each format of such a matrix is also the format of its transpose, for
/// any stored value type. `a` must be a valid CSR matrix, see formats::check_csr. Stops at the first
/// difference. O(nnz + rows).
bool is_symmetric(const formats::CsrView& a);

}  // namespace sptile::runtime
