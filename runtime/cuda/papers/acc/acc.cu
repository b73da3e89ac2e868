// SpMM of bittcf balanced as in Acc-SpMM, with the machine code of cuda.bittcf.staged, and with the paper's
// cache policy (Table 1). It caches A and B at all levels, as the kernels here do anyway, and writes C
// through L2, where other kernels mark it for early eviction.
#include "runtime/cuda/papers/acc/acc.hpp"

#include "runtime/cuda/families/tile/divided.cuh"
#include "runtime/cuda/families/tile/tile.hpp"
#include "runtime/cuda/families/tile/tile8.cuh"
#include "runtime/cuda/instance_parts.hpp"
#include "runtime/cuda/papers/acc/balance.hpp"
#include "runtime/cuda/papers/acc/write_through.cuh"

namespace sptile::runtime::cuda {
namespace {

/// Version of the divisions.
constexpr std::uint32_t kAccVersion = 1;

/// Tiles of the paper's types: f32 operands, products in tf32; values of type V.
template <class V>
using AccTiles = Staged8::F32<V, false>;

template <const std::string_view& kKernel, DivideWindows kDivide, class V>
constexpr DeviceKernel acc_row() {
  return DividedInstance<AccTiles<V>, kDivide, kAccVersion>::row(
      kKernel, launch_tf32_of<instances<kBitTcfStaged>, kDTypeOf<V>>, kDTypeOf<V>);
}

template <const std::string_view& kKernel, DivideWindows kDivide>
std::span<const DeviceKernel> acc_instances() {
  static constexpr DeviceKernel kRows[] = {acc_row<kKernel, kDivide, float>(),
                                           acc_row<kKernel, kDivide, Ones>()};
  return kRows;
}

/// A kernel of the family with this store; `Skeleton` is the main loop of its warps.
template <class Kernel, template <class> class Skeleton>
struct WriteThrough : Kernel {
  using Warp = Skeleton<WriteThrough>;
  using Store = WriteThroughStore;
  static constexpr bool kShortRows = false;
};

using AccMath = MathF32<false>;
template <class V>
using WriteThroughTiles = TileInstance<WriteThrough<Direct8::Single<V, AccMath>, TileDirect>,
                                       WriteThrough<Direct8::Whole<V, AccMath, 1>, TileDirect>,
                                       WriteThrough<Staged8::Narrow<V, AccMath, 2>, TileStaged>>;

template <class V>
constexpr DeviceKernel write_through_row() {
  using Tiles = WriteThroughTiles<V>;
  return DividedInstance<Tiles, divide_acc, kAccVersion>::row(kBitTcfAccWriteThrough, Tiles::launch,
                                                              kDTypeOf<V>);
}

}  // namespace

std::span<const DeviceKernel> acc_kernels() { return acc_instances<kBitTcfAcc, divide_acc>(); }
std::span<const DeviceKernel> acc_write_through_kernels() {
  static constexpr DeviceKernel kRows[] = {write_through_row<float>(), write_through_row<Ones>()};
  return kRows;
}
#ifdef SPTILE_ABLATIONS
std::span<const DeviceKernel> acc_balanced_kernels() {
  return acc_instances<kBitTcfAccBalanced, divide_acc_balanced>();
}
std::span<const DeviceKernel> acc_windows_kernels() {
  return acc_instances<kBitTcfAccWindows, divide_acc_windows>();
}
#endif

}  // namespace sptile::runtime::cuda
