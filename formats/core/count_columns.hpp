// Nonzeros per column.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/core/csr_view.hpp"

namespace sptile::formats {

/// Returns the number of nonzeros in each column. O(nnz + cols), parallel; 4 bytes per column and thread.
std::vector<std::int32_t> count_columns(const CsrView& a);

}  // namespace sptile::formats
