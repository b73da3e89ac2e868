// Compiled without fused multiply-add, so that densities have the bits of the CPU.
#include "runtime/cuda/reorder/pack.hpp"

#include "runtime/cuda/convert/cuda_run.cuh"

namespace sptile::runtime::cuda {

Result<DeviceOrder> pack_on_device(const DeviceCsr& a, const PackParameters& parameters, void* stream) {
  return on_device(a.ordinal, stream, [&](CudaRun& run) { return pack_on(run, a, parameters); });
}

}  // namespace sptile::runtime::cuda
