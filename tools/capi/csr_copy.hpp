// CSR arrays of a caller, copied and checked.
#pragma once

#include "formats/core/error.hpp"
#include "formats/io/matrix_market/entries_to_csr.hpp"
#include "tools/capi/sptile_tools.h"

namespace sptile::tools {

/// Copies arrays in host memory, sorts and sums entries as arrays.disorder says, and checks them. Errc::usage
/// for a call that makes no sense, Errc::bad_input for arrays that break the format, naming the place;
/// Errc::unsupported for more than 2^31 - 1 rows or columns.
Result<formats::AssembledCsr> copy_csr(const sptile_arrays& arrays);

}  // namespace sptile::tools
