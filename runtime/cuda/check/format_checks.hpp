// Table of the formats that can be checked on devices.
#pragma once

#include "formats/layout/blocks.hpp"
#include "runtime/cuda/check/bittcf.hpp"
#include "runtime/cuda/check/bmat.hpp"
#include "runtime/cuda/check/csr.hpp"
#include "runtime/cuda/check/me_tcf.hpp"
#include "runtime/cuda/check/permutation.hpp"
#include "runtime/cuda/convert/format_memory.hpp"

namespace sptile::runtime::cuda {

/// Checks the contents of a format with valid offsets.
template <class Run>
struct FormatCheck {
  const formats::FormatLayout* layout;
  void (*check)(Run& run, const formats::FormatView& view, const ContentsWorkspace& workspace);
  bool counts_windows = false;  ///< uses ContentsWorkspace::window_entries
};

template <class Run>
inline constexpr FormatCheck<Run> kFormatChecks[] = {
    {&formats::kCsrLayout, check_csr_on<Run>},
    {&formats::kBitTcfLayout, check_bittcf_on<Run>},
    {&formats::kBmatLayout, check_bmat_on<Run>, true},
    {&formats::kMeTcfLayout, check_me_tcf_on<Run>},
};

/// Returns the check of a format; null if there is none.
template <class Run>
const FormatCheck<Run>* find_check(const formats::FormatLayout& layout) {
  for (const FormatCheck<Run>& one : kFormatChecks<Run>)
    if (one.layout == &layout) return &one;
  return nullptr;
}

/// Checks a format that has a check, and its orders. One launch per check, and one more for bmat. Allocates
/// only for counters and orders.
template <class Run>
Status check_format_on(Run& run, const DeviceFormat& format, std::uint32_t* fault) {
  const formats::FormatView& view = format.view;
  const FormatCheck<Run>& check = *find_check<Run>(*view.layout);
  Workspace<ContentsWorkspace> workspace;
  const std::int64_t windows = check.counts_windows ? formats::blocks_of(view).windows() : 0;
  if (Status s = workspace.make(run, format, windows); !s) return s;
  workspace.fault = fault;
  run.clear(workspace.memory.get(), workspace.bytes);
  check.check(run, view, workspace);
  if (format.row_order != nullptr)
    run.each(view.rows,
             CheckPermutation<std::int32_t>{format.row_order, view.rows, workspace.seen_rows, fault});
  const ArrayView& source = format.value_source;
  run.each(source.size, CheckPermutation<std::int64_t>{static_cast<const std::int64_t*>(source.data),
                                                       source.size, workspace.seen_entries, fault});
  return run.status();
}

}  // namespace sptile::runtime::cuda
