// Formats with 16x8 tiles and row-major masks: me_tcf, and hc_window with rows beside them.
#include "runtime/cuda/tile/mixed.cuh"
#include "runtime/cuda/tile/sizes.hpp"
#include "runtime/cuda/tile/tile.hpp"

namespace sptile::runtime::cuda {
namespace {

using Rare = RareFamily<Mask16, Sizes16>;
using Staged = StagedFamily<Mask16, Sizes16>;

/// Staged where the values have the type of the operands; else the kernels of me_tcf.
struct Windows : Rare {
  template <class V, bool kSplit>
  using F32 = typename std::conditional_t<std::is_same_v<V, float>, Staged, Rare>::template F32<V, kSplit>;
  template <class V, class D>
  using F16 = typename std::conditional_t<std::is_same_v<V, D>, Staged, Rare>::template F16<V, D>;
};

}  // namespace

std::span<const DeviceKernel> me_tcf_kernels() { return instances<kMeTcfMma, Rare>(); }
std::span<const DeviceKernel> hc_window_kernels() {
  return instances<kHcWindowHybrid, MixedFamily<Windows>>();
}

}  // namespace sptile::runtime::cuda
