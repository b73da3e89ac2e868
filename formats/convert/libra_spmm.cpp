// Conversion of CSR to libra_spmm (Libra, section 4.2).
#include "formats/convert/libra_spmm.hpp"

#include "formats/convert/libra_parts.hpp"
#include "formats/layout/libra.hpp"

namespace sptile::formats {

Result<FormatData> libra_spmm_from_csr_with(const CsrView& a, LibraSetting setting, Progress* progress) {
  return libra_from_csr(a, {&kLibraSpmmLayout, split_columns, false}, setting, progress);
}

Result<FormatData> libra_spmm_from_csr_at(const CsrView& a, int threshold, Progress* progress) {
  return libra_spmm_from_csr_with(a, {threshold, libra_block_columns(a.values.dtype)}, progress);
}

Result<FormatData> libra_spmm_from_csr(const CsrView& a, Progress* progress) {
  return libra_spmm_from_csr_at(a, kLibraThreshold, progress);
}

}  // namespace sptile::formats
