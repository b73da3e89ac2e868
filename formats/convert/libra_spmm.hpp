// Conversion of CSR to libra_spmm.
#pragma once

#include "formats/convert/converters.hpp"
#include "formats/convert/libra_split.hpp"

namespace sptile::formats {

/// See Converter.
Result<FormatData> libra_spmm_from_csr(const CsrView& a, Progress* progress);

/// Works like libra_spmm_from_csr with the given setting. Errc::usage if a parameter is out of range.
Result<FormatData> libra_spmm_from_csr_with(const CsrView& a, LibraSetting setting, Progress* progress);

/// Converter::from_csr_at; the block width follows from the value type.
Result<FormatData> libra_spmm_from_csr_at(const CsrView& a, int threshold, Progress* progress);

}  // namespace sptile::formats
