// Copies and checks a caller's CSR arrays.
#pragma once

#include "formats/core/error.hpp"
#include "formats/io/matrix_market/entries_to_csr.hpp"
#include "tools/capi/sptile_tools.h"

namespace sptile::tools {

/// Copies arrays in host memory, sorts and sums entries as arrays.disorder requires, and checks them.
/// Errc::usage for an invalid call, Errc::bad_input, with the position, for invalid arrays; Errc::unsupported
/// for more than 2^31 - 1 rows or columns.
Result<formats::AssembledCsr> copy_csr(const sptile_arrays& arrays);

}  // namespace sptile::tools
