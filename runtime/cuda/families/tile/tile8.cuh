// The families of kernels for tiles of 8x8.
#pragma once

#include "runtime/cuda/families/tile/instances.cuh"
#include "runtime/cuda/families/tile/sizes.hpp"

namespace sptile::runtime::cuda {

using Direct8 = DirectFamily<Mask8, Sizes8>;
using Staged8 = StagedFamily<Mask8, Sizes8>;

}  // namespace sptile::runtime::cuda
