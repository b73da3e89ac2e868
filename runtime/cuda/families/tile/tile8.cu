// Formats with 8x8 tiles: bittcf, and rs_tile and those of Libra with additional rows.
#include "runtime/cuda/collective/instance_table.cuh"
#include "runtime/cuda/families/tile/hybrid.cuh"
#include "runtime/cuda/families/tile/tile.hpp"
#include "runtime/cuda/families/tile/tile8.cuh"

namespace sptile::runtime::cuda {

/// Staged kernels with rows in classes if values have the type of the operands or there are none; else the
/// kernels of .mma.
struct RsTileStaged : StagedFamily<Mask8, true> {
  template <class V, bool kSplit>
  using F32 = typename std::conditional_t<std::is_same_v<V, float> || std::is_same_v<V, Ones>,
                                          StagedFamily<Mask8, true>, Direct8>::template F32<V, kSplit>;
};

SPTILE_INSTANTIATE(kBitTcfMma, Direct8)
SPTILE_INSTANTIATE(kBitTcfStaged, Staged8)
SPTILE_INSTANTIATE(kRsTileMma, Direct8)
SPTILE_INSTANTIATE(kRsTileStaged, RsTileStaged)
SPTILE_INSTANTIATE(kLibraSpmmMma, HybridFamily<Staged8>)
SPTILE_INSTANTIATE(kLibraSddmmMma, HybridFamily<Staged8>)

}  // namespace sptile::runtime::cuda
