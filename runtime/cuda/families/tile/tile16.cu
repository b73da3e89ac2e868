// Formats with 16x8 tiles and row-major masks: me_tcf, and hc_window, which has row windows as well.
#include "runtime/cuda/collective/instance_table.cuh"
#include "runtime/cuda/families/tile/mixed.cuh"
#include "runtime/cuda/families/tile/tile.hpp"

namespace sptile::runtime::cuda {

using Rare16 = RareFamily<Mask16>;
using Staged16 = StagedFamily<Mask16>;

/// Staged kernels if values have the type of the operands or there are none; else the kernels of me_tcf.
struct HcWindowTiles : Rare16 {
  template <class V, bool kSplit>
  using F32 = typename std::conditional_t<std::is_same_v<V, float> || std::is_same_v<V, Ones>, Staged16,
                                          Rare16>::template F32<V, kSplit>;
  template <class V, class D>
  using F16 = typename std::conditional_t<std::is_same_v<V, D>, Staged16, Rare16>::template F16<V, D>;
};

SPTILE_INSTANTIATE(kMeTcfMma, Rare16)
SPTILE_INSTANTIATE(kHcWindowHybrid, MixedFamily<HcWindowTiles>)
SPTILE_INSTANTIATE(kHcWindowApart, HybridFamily<HcWindowTiles>)

}  // namespace sptile::runtime::cuda
