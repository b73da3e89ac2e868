#include "tools/calibrate/libra_sampling.hpp"

#include <algorithm>
#include <span>

#include "formats/convert/packed_positions.hpp"
#include "formats/layout/libra_rules.hpp"
#include "formats/layout/registry.hpp"
#include "runtime/choice/fitted_parameter.hpp"
#include "runtime/cuda/backend.hpp"
#include "runtime/cuda/papers/libra_streams/libra_streams.hpp"
#include "runtime/cuda/papers/libra_streams/schedule.hpp"
#include "runtime/plan/product_plan.hpp"
#include "tools/measure/operations.hpp"

namespace sptile::tools {
namespace {

/// A format with a fitted threshold.
struct SplitFormat {
  const runtime::Operation* op;
  std::string_view kernel;
  const formats::Converter* converter;
  std::span<const int> thresholds;  // measured thresholds
};

std::vector<SplitFormat> split_formats() {
  std::vector<SplitFormat> formats;
  for (const formats::FormatLayout* layout : formats::layouts())
    if (const auto* kernel = runtime::usual_product(layout->name, DType::f32).kernel;
        kernel != nullptr && !layout->parameter->tried.empty())
      formats.push_back(
          {kernel->op, kernel->name, formats::find_converter(layout->name), layout->parameter->tried});
  return formats;
}

// Libra's balance, and the kernels that always use one of its modes.
using runtime::cuda::kLibraConcurrent, runtime::cuda::kLibraFitted, runtime::cuda::kLibraSequential;
constexpr std::string_view kModes[] = {kLibraFitted, kLibraSequential, kLibraConcurrent};

}  // namespace

runtime::cuda::LibraRatios ratios_of_plan(const Measurement& measurement) {
  using Header = runtime::cuda::LibraStreamsHeader;
  if (measurement.plan == nullptr || measurement.plan->on_device == nullptr) return {};
  const auto& header = runtime::cuda::schedule_header(*measurement.plan->on_device);
  return header.is<Header>() ? header.as<Header>().ratios : runtime::cuda::LibraRatios{};
}

bool LibraSampler::needs_threshold(const runtime::Multiplicand& a, std::string_view kernel) const {
  return (plan_.kernels.empty() || plan_.names(kernel)) && plan_.bench->supports(a, kernel);
}

// Modes are measured only if one of the kernels is named.
bool LibraSampler::needs_modes(const runtime::Multiplicand& a) const {
  const auto named = [&](std::string_view kernel) { return plan_.names(kernel); };
  const auto supported = [&](std::string_view kernel) { return plan_.bench->supports(a, kernel); };
  return std::any_of(std::begin(kModes), std::end(kModes), named) &&
         std::all_of(std::begin(kModes), std::end(kModes), supported);
}

Status LibraSampler::set_matrix(const formats::CsrView& a) {
  forget();
  for (const SplitFormat& format : split_formats()) {
    if (!plan_.has(*format.op)) continue;
    const runtime::Multiplicand requested = {format.op, format.converter->format, a.values.dtype, a.cols};
    const std::string_view kernel = needs_threshold(requested, format.kernel) ? format.kernel : "";
    const bool modes = needs_modes(requested);
    for (const int threshold : format.thresholds) {
      // Modes use the default threshold of conversions, so that both parts have work.
      const bool modes_here = modes && threshold == formats::kLibraThreshold;
      if (kernel.empty() && !modes_here) continue;
      auto data = format.converter->from_csr_at(a, threshold, nullptr);
      if (!data) return tl::unexpected(data.error());
      splits_.push_back({format.op, kernel, modes_here, threshold, std::move(*data), {}});
      if (!has_entry_lists(*format.op)) continue;
      auto entries = formats::packed_entries(splits_.back().data.view(), {});
      if (!entries) return tl::unexpected(entries.error());
      splits_.back().entries = std::move(*entries);
    }
  }
  return {};
}

Result<Measurement> LibraSampler::run(const Split& split, std::string_view kernel) {
  auto measured = plan_.bench->measure({split.data.view(), {}, split.entries.view(), nullptr}, {kernel, {}});
  if (!measured) return measured;
  if (Status s = check_outcome(*measured); !s) return tl::unexpected(s.error());
  measured->median_us = std::max(measured->median_us, 0.01);
  return measured;
}

Status LibraSampler::measure_streams(const Split& split, Measurements& found) {
  const auto one = run(split, kLibraSequential);
  if (!one) return tl::unexpected(one.error());
  const auto two = run(split, kLibraConcurrent);
  if (!two) return tl::unexpected(two.error());
  const runtime::cuda::LibraRatios ratios = plan_.libra_ratios(*one);
  if (ratios.tiles > 0 && ratios.rows > 0)  // otherwise there is only one part
    found.occupancy.push_back({ratios.tiles, ratios.rows, one->median_us, two->median_us});
  return {};
}

Status LibraSampler::measure(const std::string& matrix, const runtime::Operation& op, std::int64_t n,
                             Measurements& found) {
  for (const Split& split : splits_) {
    if (split.op != &op) continue;
    if (split.modes)
      if (Status s = measure_streams(split, found); !s) return s;
    if (split.kernel.empty()) continue;
    const auto m = run(split, split.kernel);
    if (!m) return tl::unexpected(m.error());
    found.thresholds.push_back({matrix, m->kernel, m->precision, n, split.threshold, m->median_us});
  }
  return {};
}

}  // namespace sptile::tools
