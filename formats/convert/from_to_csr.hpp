// The two conversions of each format; converters.cpp puts them in the table.
#pragma once

#include "formats/convert/converters.hpp"

namespace sptile::formats {

Result<FormatData> csr_from_csr(const CsrView& a, Progress* progress);
Result<Csr> csr_to_csr(const FormatView& view);

Result<FormatData> me_tcf_from_csr(const CsrView& a, Progress* progress);
Result<Csr> me_tcf_to_csr(const FormatView& view);

Result<FormatData> bittcf_from_csr(const CsrView& a, Progress* progress);
Result<Csr> bittcf_to_csr(const FormatView& view);

Result<FormatData> bmat_from_csr(const CsrView& a, Progress* progress);
Result<Csr> bmat_to_csr(const FormatView& view);

Result<FormatData> rs_tile_from_csr(const CsrView& a, Progress* progress);
Result<Csr> rs_tile_to_csr(const FormatView& view);

Result<FormatData> tall_from_csr(const CsrView& a, Progress* progress);
Result<Csr> tall_to_csr(const FormatView& view);

Result<FormatData> libra_spmm_from_csr(const CsrView& a, Progress* progress);
Result<FormatData> libra_sddmm_from_csr(const CsrView& a, Progress* progress);
Result<Csr> libra_to_csr(const FormatView& view);  ///< of both

}  // namespace sptile::formats
