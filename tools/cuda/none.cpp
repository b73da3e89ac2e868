// Replaces device_bench.cpp and core_rates.cpp in builds without nvcc.
#include "tools/cuda/core_rates.hpp"
#include "tools/cuda/device_bench.hpp"

namespace sptile::tools {
namespace {
constexpr const char* kNoKernels = "this build has no CUDA kernels";
}

Result<std::vector<CoreRate>> measure_core_rates() { return fail(Errc::unsupported, kNoKernels); }

Result<std::unique_ptr<ProductBench>> make_device_bench(Session&, const DeviceBenchOptions&) {
  return fail(Errc::unsupported, kNoKernels);
}

}  // namespace sptile::tools
