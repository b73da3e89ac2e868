// The families of kernels for 8x8 tiles.
#pragma once

#include "runtime/cuda/families/tile/instances.cuh"

namespace sptile::runtime::cuda {

using Direct8 = DirectFamily<Mask8>;
using Staged8 = StagedFamily<Mask8>;

}  // namespace sptile::runtime::cuda
