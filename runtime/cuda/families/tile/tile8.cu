// Formats with 8x8 tiles: bittcf, and rs_tile and those of Libra with additional rows.
#include "runtime/cuda/collective/instance_table.cuh"
#include "runtime/cuda/families/tile/hybrid.cuh"
#include "runtime/cuda/families/tile/tile.hpp"
#include "runtime/cuda/families/tile/tile8.cuh"

namespace sptile::runtime::cuda {

SPTILE_INSTANTIATE(kBitTcfMma, Direct8)
SPTILE_INSTANTIATE(kBitTcfStaged, Staged8)
SPTILE_INSTANTIATE(kRsTileMma, Direct8)
SPTILE_INSTANTIATE(kLibraSpmmMma, HybridFamily<Staged8>)
SPTILE_INSTANTIATE(kLibraSddmmMma, HybridFamily<Staged8>)

}  // namespace sptile::runtime::cuda
