// Conversion between CSR and tall windows.
#pragma once

#include "formats/convert/converters.hpp"

namespace sptile::formats {

/// See Converter.
Result<FormatData> tall_from_csr(const CsrView& a, Progress* progress);
Result<FormatData> tall_from_csr_of_height(const CsrView& a, int height, Progress* progress);
Result<Csr> tall_to_csr(const FormatView& view);

/// Converts with windows of 16 << level rows (level 0 to 3); see Converter::from_csr. The result has the
/// given parameters.
Result<FormatData> tall_from_csr_at(const CsrView& a, int level, Parameters parameters, Progress* progress);

}  // namespace sptile::formats
