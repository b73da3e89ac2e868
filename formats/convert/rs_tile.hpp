// Conversion between CSR and rs_tile; see Converter.
#pragma once

#include "formats/convert/converters.hpp"

namespace sptile::formats {

Result<FormatData> rs_tile_from_csr(const CsrView& a, Progress* progress);
Result<FormatData> rs_tile_from_csr_at(const CsrView& a, int parameter, Progress* progress);
Result<Csr> rs_tile_to_csr(const FormatView& view);

}  // namespace sptile::formats
