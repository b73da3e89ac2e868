// Compiled without fused multiply-add, so that gains have the bits of the CPU.
#include "runtime/cuda/reorder/rabbit.hpp"

#include "runtime/cuda/convert/cuda_run.cuh"

namespace sptile::runtime::cuda {

Result<DeviceOrder> rabbit_on_device(const DeviceCsr& a, void* stream) {
  return on_device(a.ordinal, stream, [&](CudaRun& run) { return rabbit_on(run, a, usual_stored_links); });
}

}  // namespace sptile::runtime::cuda
