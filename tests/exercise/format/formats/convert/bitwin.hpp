// Conversion of CSR to bitwin and back; see Converter.
#pragma once

#include "formats/convert/converters.hpp"

namespace sptile::formats {

Result<FormatData> bitwin_from_csr(const CsrView& a, Progress* progress);
Result<Csr> bitwin_to_csr(const FormatView& view);

}  // namespace sptile::formats
