// CSR to libra_spmm.
#pragma once

#include "formats/convert/converters.hpp"
#include "formats/convert/libra_split.hpp"

namespace sptile::formats {

/// See Converter.
Result<FormatData> libra_spmm_from_csr(const CsrView& a, Progress* progress);

/// The same with parameters. Errc::usage when a parameter is out of range.
Result<FormatData> libra_spmm_from_csr_with(const CsrView& a, LibraSetting setting, Progress* progress);

/// See Converter::from_csr_at: with the block columns of the type of the values.
Result<FormatData> libra_spmm_from_csr_at(const CsrView& a, int threshold, Progress* progress);

}  // namespace sptile::formats
