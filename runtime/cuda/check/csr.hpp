// Check of `csr` on a device.
#pragma once

#include "formats/layout/csr.hpp"
#include "runtime/cuda/check/columns.hpp"
#include "runtime/cuda/check/contents_workspace.hpp"

namespace sptile::runtime::cuda {

/// Checks that the columns of a row ascend and are in range.
struct CheckCsrColumns {
  CsrRows rows;
  const std::int32_t* col_idx;
  std::int64_t cols;
  std::uint32_t* fault;

  SPTILE_HOST_DEVICE void operator()(std::int64_t step) const {
    rows.visit_apart(step, [&](std::int64_t i, std::int64_t row) {
      const std::int32_t previous = i == rows.row_ptr[row] ? -1 : col_idx[i - 1];
      note_fault(fault, col_idx[i] > previous && col_idx[i] < cols);
    });
  }
};

template <class Run>
void check_csr_on(Run& run, const formats::FormatView& view, const ContentsWorkspace& workspace) {
  const formats::CsrView a = formats::as_csr(view);
  const CsrRows rows{a.row_ptr.data(), a.rows, view.nnz};
  run.each(rows.steps_apart(), CheckCsrColumns{rows, a.col_idx.data(), a.cols, workspace.fault});
}

}  // namespace sptile::runtime::cuda
