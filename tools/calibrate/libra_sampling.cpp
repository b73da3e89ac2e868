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

// Libra's own balance, and the kernels that always take one of its modes.
constexpr std::string_view kStreams = "cuda.libra_spmm.streams", kSequential = "cuda.libra_spmm.sequential",
                           kConcurrent = "cuda.libra_spmm.concurrent";

// Its modes are measured with the threshold that conversions take by themselves, so that both parts have
// work.
bool has_modes(std::string_view op, int threshold) {
  return op == "spmm" && threshold == formats::kLibraThreshold;
}

}  // namespace

Status LibraSampler::set_matrix(const formats::CsrView& a) {
  forget();
  single_ = a.values.dtype == DType::f32;
  const auto& operations = plan_.operations;
  for (const SplitFormat& format : kSplitFormats) {
    if (std::find(operations.begin(), operations.end(), format.op) == operations.end()) continue;
    for (const int threshold : format.thresholds) {
      const bool wanted =
          plan_.wants(format.kernel) || (plan_.wants(kStreams) && has_modes(format.op, threshold));
      if (!wanted) continue;
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

Result<DeviceMeasurement> LibraSampler::run(const Split& split, std::string_view kernel) {
  ProductRequest request;
  request.op = split.op;
  request.device = name_of(plan_.bench->kind());
  request.kernel = kernel;
  auto measured = plan_.bench->measure({split.data.view(), {}, split.entries.view(), nullptr}, request);
  if (!measured) return measured;
  if (Status s = check_outcome(measured->product); !s) return tl::unexpected(s.error());
  measured->product.median_us = std::max(measured->product.median_us, 0.01);
  return measured;
}

Status LibraSampler::measure_streams(const Split& split, Measurements& found) {
  const auto one = run(split, kSequential);
  if (!one) return tl::unexpected(one.error());
  const auto two = run(split, kConcurrent);
  if (!two) return tl::unexpected(two.error());
  const runtime::cuda::LibraRatios& ratios = one->occupancy;
  if (ratios.tiles > 0 && ratios.rows > 0)  // else there is one part alone
    found.occupancy.push_back({ratios.tiles, ratios.rows, one->product.median_us, two->product.median_us});
  return {};
}

Status LibraSampler::measure(const std::string& matrix, std::string_view op, std::int64_t n,
                             Measurements& found) {
  for (const Split& split : splits_) {
    if (split.op != op) continue;
    if (single_ && plan_.wants(kStreams) && has_modes(op, split.threshold))
      if (Status s = measure_streams(split, found); !s) return s;
    if (!plan_.wants(split.kernel)) continue;
    const auto measured = run(split, split.kernel);
    if (!measured) return tl::unexpected(measured.error());
    const ProductMeasurement& product = measured->product;
    found.thresholds.push_back(
        {matrix, product.kernel, product.precision, n, split.threshold, product.median_us});
  }
  return {};
}

}  // namespace sptile::tools
