// Conversion of CSR to libra_sddmm.
#pragma once

#include "formats/convert/converters.hpp"
#include "formats/layout/libra_rules.hpp"

namespace sptile::formats {

/// See Converter.
Result<FormatData> libra_sddmm_from_csr(const CsrView& a, Progress* progress);
Result<FormatData> libra_sddmm_from_csr_at(const CsrView& a, int threshold, Progress* progress);

}  // namespace sptile::formats
