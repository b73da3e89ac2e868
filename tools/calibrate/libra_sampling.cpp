#include "tools/calibrate/libra_sampling.hpp"

#include <algorithm>
#include <span>

#include "formats/convert/libra_sddmm.hpp"
#include "formats/convert/libra_spmm.hpp"
#include "formats/convert/packed_positions.hpp"
#include "tools/devices.hpp"

namespace sptile::tools {
namespace {

/// A format with a threshold, and the values of it that are measured.
struct SplitFormat {
  std::string_view op, kernel;
  Result<formats::FormatData> (*from_csr)(const formats::CsrView& a, int threshold, Progress* progress);
  std::span<const int> thresholds;
};
constexpr int kSpmmThresholds[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
constexpr int kSddmmThresholds[] = {1, 8, 16, 24, 32, 48, 64, 129};
constexpr SplitFormat kSplitFormats[] = {
    {"spmm", "cuda.libra_spmm.mma", formats::libra_spmm_from_csr_at, kSpmmThresholds},
    {"sddmm", "cuda.libra_sddmm.sddmm", formats::libra_sddmm_from_csr_at, kSddmmThresholds}};

}  // namespace

Status LibraSampler::set_matrix(const formats::CsrView& a) {
  forget();
  for (const SplitFormat& format : kSplitFormats) {
    const auto& operations = plan_.operations;
    if (!plan_.wants(format.kernel) ||
        std::find(operations.begin(), operations.end(), format.op) == operations.end())
      continue;
    for (const int threshold : format.thresholds) {
      auto data = format.from_csr(a, threshold, nullptr);
      if (!data) return tl::unexpected(data.error());
      splits_.push_back({format.op, format.kernel, threshold, std::move(*data), {}});
      if (format.op != "sddmm") continue;
      auto entries = formats::packed_entries(splits_.back().data.view(), {});
      if (!entries) return tl::unexpected(entries.error());
      splits_.back().entries = std::move(*entries);
    }
  }
  return {};
}

Status LibraSampler::measure(const std::string& matrix, std::string_view op, std::int64_t n,
                             Measurements& found) {
  for (const Split& split : splits_) {
    if (split.op != op) continue;
    ProductRequest request;
    request.op = op;
    request.device = name_of(plan_.bench->kind());
    request.kernel = split.kernel;
    const auto measured =
        plan_.bench->measure({split.data.view(), {}, split.entries.view(), nullptr}, request);
    if (!measured) return tl::unexpected(measured.error());
    const ProductMeasurement& product = measured->product;
    if (Status s = check_outcome(product); !s) return s;
    found.thresholds.push_back(
        {matrix, product.kernel, product.precision, n, split.threshold, std::max(product.median_us, 0.01)});
  }
  return {};
}

}  // namespace sptile::tools
