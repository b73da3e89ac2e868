#include "runtime/cuda/tile/instances.cuh"
#include "runtime/cuda/tile/sizes.hpp"
#include "runtime/cuda/tile/tile.hpp"

namespace sptile::runtime::cuda {

std::span<const DeviceKernel> me_tcf_kernels() { return instances<kMeTcfMma, RareFamily<Mask16, Sizes16>>(); }

}  // namespace sptile::runtime::cuda
