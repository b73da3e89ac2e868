// Replaces device_bench.cpp in builds without nvcc.
#include "tools/cuda/device_bench.hpp"

namespace sptile::tools {

Result<std::unique_ptr<ProductBench>> make_device_bench(Session&, const DeviceBenchOptions&) {
  return fail(Errc::unsupported, "this build has no CUDA kernels");
}

}  // namespace sptile::tools
