// Conversion between CSR and bittcf; see Converter.
#pragma once

#include "formats/convert/converters.hpp"

namespace sptile::formats {

Result<FormatData> bittcf_from_csr(const CsrView& a, Progress* progress);
Result<Csr> bittcf_to_csr(const FormatView& view);

}  // namespace sptile::formats
