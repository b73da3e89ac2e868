#include "runtime/cuda/check/format_checks.hpp"
#include "runtime/cuda/convert/cuda_run.cuh"
#include "runtime/cuda/format_check.hpp"

namespace sptile::runtime::cuda {

bool has_device_check(const formats::FormatLayout& layout) { return find_check<CudaRun>(layout) != nullptr; }

Status start_check(const DeviceFormat& format, std::uint32_t* fault, void* stream) {
  CudaRun run(static_cast<cudaStream_t>(stream));
  return check_format_on(run, format, fault);
}

}  // namespace sptile::runtime::cuda
