#include "tools/doctor/kernel_counts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "formats/layout/registry.hpp"
#include "runtime/cuda/backend.hpp"
#include "runtime/operation/operation.hpp"
#include "tools/pipeline/devices.hpp"

namespace sptile::tools::doctor {
namespace {

std::string reason_of(const runtime::Kernel& kernel, bool cuda_in_library) {
  if (kernel.device == runtime::Device::cpu) return fmt::format("this processor has no {}", kernel.isa);
  if (cuda_in_library) return "this command does not contain them; libsptile does, for Python, C and C++";
  if (!runtime::cuda::built()) return "this build was compiled without nvcc";
  if (const auto device = runtime::cuda::find_device(0); !device) return device.error().message;
  return fmt::format("they require {} or newer", kernel.isa);
}

}  // namespace

std::vector<KernelCount> count_kernels() {
  std::vector<KernelCount> counts;
  for (const DeviceRow& device : devices())
    for (const formats::FormatLayout* layout : formats::layouts())
      for (const runtime::Operation* op : runtime::operations()) {
        KernelCount count{device.device, layout->name, op->name};
        for (const runtime::Kernel& kernel : runtime::kernels()) {
          if (kernel.device != device.device || kernel.format != layout->name || kernel.op != op) continue;
          ++count.there;
          count.run += runtime::available(kernel) ? 1 : 0;
        }
        if (count.there > 0) counts.push_back(count);
      }
  return counts;
}

std::vector<Unavailable> why_unavailable(bool cuda_in_library) {
  std::vector<Unavailable> reasons;
  for (const runtime::Kernel& kernel : runtime::kernels()) {
    if (runtime::available(kernel)) continue;
    const std::string why = reason_of(kernel, cuda_in_library);
    const auto known = std::ranges::find_if(
        reasons, [&](const Unavailable& u) { return u.device == kernel.device && u.why == why; });
    if (known != reasons.end())
      ++known->kernels;
    else
      reasons.push_back({kernel.device, why, 1});
  }
  return reasons;
}

}  // namespace sptile::tools::doctor
