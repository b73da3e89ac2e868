// Stands in for device_bench.cpp in builds without nvcc.
#include "tools/cuda/device_bench.hpp"

namespace sptile::tools {

Result<std::unique_ptr<DeviceBench>> open_device_bench(const DeviceBenchOptions&) {
  return fail(Errc::unsupported, "this build has no CUDA kernels");
}

std::span<const std::string_view> cusparse_yardsticks(std::string_view) { return {}; }

}  // namespace sptile::tools
