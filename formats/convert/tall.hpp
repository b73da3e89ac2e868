// CSR to tall windows of a given height.
#pragma once

#include "formats/convert/converters.hpp"

namespace sptile::formats {

/// Converts with windows of 16 << level rows (level 0 to 3). See Converter::from_csr; the parameters are
/// those of the call.
Result<FormatData> tall_from_csr_at(const CsrView& a, int level, Parameters parameters, Progress* progress);

}  // namespace sptile::formats
