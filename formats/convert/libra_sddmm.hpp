// CSR to libra_sddmm with a given threshold.
#pragma once

#include "formats/convert/converters.hpp"
#include "formats/layout/libra_rules.hpp"

namespace sptile::formats {

/// As Converter::from_csr. Errc::usage when the threshold is out of range.
Result<FormatData> libra_sddmm_from_csr_at(const CsrView& a, int threshold, Progress* progress);

}  // namespace sptile::formats
