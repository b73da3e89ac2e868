// Conversion between CSR and bmat; see Converter.
#pragma once

#include "formats/convert/converters.hpp"

namespace sptile::formats {

Result<FormatData> bmat_from_csr(const CsrView& a, Progress* progress);
Result<Csr> bmat_to_csr(const FormatView& view);

}  // namespace sptile::formats
