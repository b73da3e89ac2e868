// Conversion of CSR to libra_sddmm (Libra, section 4.2).
#include "formats/convert/libra_sddmm.hpp"

#include "formats/convert/libra_parts.hpp"
#include "formats/layout/libra.hpp"

namespace sptile::formats {

Result<FormatData> libra_sddmm_from_csr_at(const CsrView& a, int threshold, Progress* progress) {
  return libra_from_csr(a, {&kLibraSddmmLayout, split_blocks, true}, {threshold, kLibraSddmmBlockColumns},
                        progress);
}

Result<FormatData> libra_sddmm_from_csr(const CsrView& a, Progress* progress) {
  return libra_sddmm_from_csr_at(a, kLibraSddmmThreshold, progress);
}

}  // namespace sptile::formats
