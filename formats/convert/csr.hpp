// The conversion of CSR to itself; see Converter.
#pragma once

#include "formats/convert/converters.hpp"

namespace sptile::formats {

Result<FormatData> csr_from_csr(const CsrView& a, Progress* progress);
Result<Csr> csr_to_csr(const FormatView& view);

}  // namespace sptile::formats
