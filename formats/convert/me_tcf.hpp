// Conversion between CSR and me_tcf; see Converter.
#pragma once

#include "formats/convert/converters.hpp"

namespace sptile::formats {

Result<FormatData> me_tcf_from_csr(const CsrView& a, Progress* progress);
Result<Csr> me_tcf_to_csr(const FormatView& view);

}  // namespace sptile::formats
