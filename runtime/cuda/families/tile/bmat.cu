#include "runtime/cuda/collective/instance_table.cuh"
#include "runtime/cuda/families/tile/instances.cuh"
#include "runtime/cuda/families/tile/tile.hpp"

namespace sptile::runtime::cuda {

SPTILE_INSTANTIATE(kBmatMma, DirectFamily<Words16>)
SPTILE_INSTANTIATE(kBmatStaged, StagedFamily<Words16>)

}  // namespace sptile::runtime::cuda
