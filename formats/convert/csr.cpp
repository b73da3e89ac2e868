// The conversion of CSR to CSR, which copies.
#include "formats/convert/csr.hpp"

#include "formats/layout/csr.hpp"

namespace sptile::formats {

Result<FormatData> csr_from_csr(const CsrView& a, Progress* progress) {
  begin(progress, "convert", a.nnz());
  if (cancelled(progress)) return fail(Errc::io, "cancelled");
  Csr owned = copy(a);
  FormatData data{&kCsrLayout, a.rows, a.cols, a.nnz(), {}, {}};
  data.arrays.emplace_back(std::move(owned.row_ptr));
  data.arrays.emplace_back(std::move(owned.col_idx));
  data.arrays.push_back(std::move(owned.values));
  advance(progress, a.nnz());
  return data;
}

Result<Csr> csr_to_csr(const FormatView& view) { return copy(as_csr(view)); }

}  // namespace sptile::formats
