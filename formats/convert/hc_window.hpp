// Conversion between CSR and hc_window.
#pragma once

#include "formats/convert/converters.hpp"
#include "formats/layout/hc_rules.hpp"

namespace sptile::formats {

/// See Converter.
Result<FormatData> hc_window_from_csr(const CsrView& a, Progress* progress);
Result<FormatData> hc_window_from_csr_at(const CsrView& a, int parameter, Progress* progress);
Result<Csr> hc_window_to_csr(const FormatView& view);

}  // namespace sptile::formats
