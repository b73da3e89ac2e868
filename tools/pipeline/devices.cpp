#include "tools/pipeline/devices.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "runtime/cuda/backend.hpp"
#include "runtime/kernels/kernels.hpp"
#include "runtime/threads/count.hpp"
#include "tools/pipeline/units.hpp"

namespace sptile::tools {
namespace {
constexpr DeviceRow kDevices[] = {{"cpu", runtime::Device::cpu}, {"cuda", runtime::Device::cuda}};
// fp64 cannot be requested: it follows from f64 operands.
constexpr PrecisionRow precision_row(runtime::Precision p) { return {runtime::name_of(p), p}; }
constexpr PrecisionRow kPrecisions[] = {
    precision_row(runtime::Precision::fp32), precision_row(runtime::Precision::tf32),
    precision_row(runtime::Precision::fp16), precision_row(runtime::Precision::bf16)};
}  // namespace

std::span<const DeviceRow> devices() { return kDevices; }
std::span<const PrecisionRow> precisions() { return kPrecisions; }

std::optional<runtime::Precision> precision_named(std::string_view name) {
  for (std::size_t i = 0; i < std::size(runtime::kPrecisionNames); ++i)
    if (runtime::kPrecisionNames[i] == name) return static_cast<runtime::Precision>(i);
  return std::nullopt;
}

std::string_view name_of(runtime::Device device) {
  return std::find_if(std::begin(kDevices), std::end(kDevices),
                      [=](const DeviceRow& d) { return d.device == device; })
      ->name;
}

Status check_usable(const DeviceRow& row) {
  if (device_available(row)) return {};
  std::vector<std::string_view> usable;
  for (const DeviceRow& other : kDevices)
    if (device_available(other)) usable.push_back(other.name);
  return fail(Errc::device, fmt::format("device {}: {}; usable here: {}", row.name, device_detail(row),
                                        fmt::join(usable, ", ")));
}

bool device_available(const DeviceRow& row) {
  const auto kernels = runtime::kernels();
  return std::any_of(kernels.begin(), kernels.end(), [&](const runtime::Kernel& k) {
    return k.device == row.device && runtime::available(k);
  });
}

std::string device_detail(const DeviceRow& row) {
  if (row.device == runtime::Device::cpu) {
    const runtime::ThreadCount found = runtime::default_threads();
    return fmt::format("{} threads ({})", found.threads, found.source);
  }
  if (!runtime::cuda::built())
    return "this program has no CUDA kernels; 'sptile doctor' shows whether libsptile has them";
  std::string text;
  for (int ordinal = 0; ordinal < runtime::cuda::device_count(); ++ordinal)
    if (const auto found = runtime::cuda::find_device(ordinal))
      text += fmt::format("{}{}: {}, compute capability {}.{}, {}", text.empty() ? "" : "; ", ordinal,
                          found->name, found->capability / 10, found->capability % 10,
                          human_bytes(static_cast<std::int64_t>(found->memory)));
  return text.empty() ? runtime::cuda::find_device(0).error().message : text;
}

}  // namespace sptile::tools
