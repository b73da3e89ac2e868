#include "runtime/cuda/families/tile/instances.cuh"
#include "runtime/cuda/families/tile/tile.hpp"

namespace sptile::runtime::cuda {

std::span<const DeviceKernel> bmat_kernels() { return instances<kBmatMma, DirectFamily<Words16>>(); }
std::span<const DeviceKernel> bmat_staged_kernels() {
  return instances<kBmatStaged, StagedFamily<Words16>>();
}

}  // namespace sptile::runtime::cuda
