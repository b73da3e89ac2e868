#include "runtime/cuda/families/tall/tall.hpp"

#include <tuple>
#include <type_traits>

#include "runtime/cuda/collective/instance_table.cuh"
#include "runtime/cuda/families/tall/launch.cuh"

namespace sptile::runtime::cuda {

/// Parameters of TallKernel: sub-windows, segments, warps per block, blocks per multiprocessor (as registers
/// permit; ptxas -v, sm_90).
struct TallFamilies {
  template <class V, class Math>
  using All32 = TallInstance<1, 4, TallKernel<V, Math, 1, 1, 16, 1>, TallKernel<V, Math, 1, 1, 8, 3>,
                             TallKernel<V, Math, 1, 2, 16, 1>, TallKernel<V, Math, 1, 2, 8, 2>,
                             TallKernel<V, Math, 1, 4, 8, 2>, TallKernel<V, Math, 2, 4, 8, 1>>;
  template <class V, class Math>
  using All16 = TallInstance<1, 2, TallKernel<V, Math, 1, 1, 16, 1>, TallKernel<V, Math, 1, 1, 8, 2>,
                             TallKernel<V, Math, 1, 2, 8, 2>, TallKernel<V, Math, 2, 2, 8, 1>>;

  // Rare pairs of types have the fewest kernels that support windows of every height.
  template <class V, class Math>
  using Rare32 = TallInstance<1, 2, TallKernel<V, Math, 1, 1, 16, 1>, TallKernel<V, Math, 1, 2, 16, 1>>;
  template <class V, class Math>
  using Rare16 = TallInstance<1, 2, TallKernel<V, Math, 1, 1, 16, 1>, TallKernel<V, Math, 2, 2, 8, 1>>;

  template <class V, bool kSplit>
  using F32 =
      std::conditional_t<std::is_same_v<V, float>, All32<V, MathF32<kSplit>>, Rare32<V, MathF32<kSplit>>>;
  template <class V, class D>
  using F16 = std::conditional_t<std::is_same_v<V, D>, All16<V, MathHalf<D, 8>>, Rare16<V, MathHalf<D, 8>>>;
  template <class V, class D>
  using F16ToF32 = Rare16<V, MathHalf<D, 8, float>>;
  template <class V>
  using F64 = Rare32<V, MathF64>;
};

SPTILE_INSTANTIATE(kTallStaged, TallFamilies)

}  // namespace sptile::runtime::cuda
