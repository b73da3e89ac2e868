#include "tools/calibrate/libra_sampling.hpp"

#include <algorithm>
#include <span>

#include "formats/convert/packed_positions.hpp"
#include "formats/layout/libra_rules.hpp"
#include "formats/layout/registry.hpp"
#include "runtime/choice/fitted_threshold.hpp"
#include "tools/devices.hpp"

namespace sptile::tools {
namespace {

/// A format with a threshold that is fitted.
struct SplitFormat {
  std::string_view op, kernel;
  const formats::Converter* converter;
  std::span<const int> thresholds;  // that are measured
};

std::vector<SplitFormat> split_formats() {
  std::vector<SplitFormat> formats;
  for (const formats::FormatLayout* layout : formats::layouts())
    if (const auto* kernel = runtime::usual_product(layout->name, DType::f32).kernel; kernel != nullptr)
      formats.push_back(
          {kernel->op, kernel->name, formats::find_converter(layout->name), layout->parameter->tried});
  return formats;
}

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
  for (const SplitFormat& format : split_formats()) {
    if (std::find(operations.begin(), operations.end(), format.op) == operations.end()) continue;
    for (const int threshold : format.thresholds) {
      const bool wanted =
          plan_.wants(format.kernel) || (plan_.wants(kStreams) && has_modes(format.op, threshold));
      if (!wanted) continue;
      auto data = format.converter->from_csr_at(a, threshold, nullptr);
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
