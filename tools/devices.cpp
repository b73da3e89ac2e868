#include "tools/devices.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>

#include "runtime/kernels.hpp"

namespace sptile::tools {
namespace {
constexpr DeviceRow kDevices[] = {{"cpu", runtime::Device::cpu}, {"cuda", runtime::Device::cuda}};
constexpr PrecisionRow kPrecisions[] = {{"fp32", runtime::Precision::fp32},
                                        {"tf32", runtime::Precision::tf32},
                                        {"fp16", runtime::Precision::fp16},
                                        {"bf16", runtime::Precision::bf16}};
}  // namespace

std::span<const DeviceRow> devices() { return kDevices; }
std::span<const PrecisionRow> precisions() { return kPrecisions; }

std::string_view name_of(runtime::Device device) {
  return std::find_if(std::begin(kDevices), std::end(kDevices),
                      [=](const DeviceRow& d) { return d.device == device; })
      ->name;
}

bool device_available(const DeviceRow& row) {
  const auto kernels = runtime::kernels();
  return std::any_of(kernels.begin(), kernels.end(), [&](const runtime::Kernel& k) {
    return k.device == row.device && runtime::available(k);
  });
}

std::string device_detail(const DeviceRow& row) {
  if (row.device == runtime::Device::cpu) return fmt::format("{} threads", omp_get_max_threads());
  const auto kernels = runtime::kernels();
  const bool built = std::any_of(kernels.begin(), kernels.end(),
                                 [&](const runtime::Kernel& k) { return k.device == row.device; });
  return built ? "no usable device" : "this build has no kernels for it";
}

}  // namespace sptile::tools
