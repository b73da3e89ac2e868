#include "runtime/cuda/families/tile/instances.cuh"
#include "runtime/cuda/families/tile/sizes.hpp"
#include "runtime/cuda/families/tile/tile.hpp"

namespace sptile::runtime::cuda {

std::span<const DeviceKernel> bmat_kernels() { return instances<kBmatMma, DirectFamily<Words16, Sizes16>>(); }
std::span<const DeviceKernel> bmat_staged_kernels() {
  return instances<kBmatStaged, StagedFamily<Words16, Sizes16>>();
}

}  // namespace sptile::runtime::cuda
