// The formats that are checked on devices: a row each.
#pragma once

#include "runtime/cuda/check/bittcf.hpp"
#include "runtime/cuda/check/bmat.hpp"
#include "runtime/cuda/check/csr.hpp"
#include "runtime/cuda/check/me_tcf.hpp"
#include "runtime/cuda/check/permutation.hpp"
#include "runtime/cuda/device_format.hpp"

namespace sptile::runtime::cuda {

/// Checks the contents of a format whose offsets are good.
template <class Run>
struct FormatCheck {
  const formats::FormatLayout* layout;
  Status (*check)(Run& run, const formats::FormatView& view, std::uint32_t* fault);
};

template <class Run>
inline constexpr FormatCheck<Run> kFormatChecks[] = {
    {&formats::kCsrLayout, check_csr_on<Run>},
    {&formats::kBitTcfLayout, check_bittcf_on<Run>},
    {&formats::kBmatLayout, check_bmat_on<Run>},
    {&formats::kMeTcfLayout, check_me_tcf_on<Run>},
};

/// The check of a format; null when it has none.
template <class Run>
const FormatCheck<Run>* find_check(const formats::FormatLayout& layout) {
  for (const FormatCheck<Run>& one : kFormatChecks<Run>)
    if (one.layout == &layout) return &one;
  return nullptr;
}

/// Checks a format that has a check, and its orders. A launch for each, and one more for bmat.
template <class Run>
Status check_format_on(Run& run, const DeviceFormat& format, std::uint32_t* fault) {
  if (Status s = find_check<Run>(*format.view.layout)->check(run, format.view, fault); !s) return s;
  if (format.row_order != nullptr)
    if (Status s = check_permutation_on(run, format.row_order, format.view.rows, fault); !s) return s;
  if (!format.value_source.present()) return {};
  const auto source = format.value_source.as<std::int64_t>();
  return check_permutation_on(run, source.data(), std::ssize(source), fault);
}

}  // namespace sptile::runtime::cuda
