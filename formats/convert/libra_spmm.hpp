// CSR to libra_spmm with given parameters.
#pragma once

#include "formats/convert/converters.hpp"
#include "formats/convert/libra_split.hpp"

namespace sptile::formats {

/// As Converter::from_csr. Errc::usage when a parameter is out of range.
Result<FormatData> libra_spmm_from_csr_with(const CsrView& a, LibraSetting setting, Progress* progress);

/// The same with the block columns of the type of the values.
Result<FormatData> libra_spmm_from_csr_at(const CsrView& a, int threshold, Progress* progress);

}  // namespace sptile::formats
