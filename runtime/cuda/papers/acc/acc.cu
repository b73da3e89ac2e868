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

/// Tiles of the paper's types: f32 values and operands, products in tf32.
using AccTiles = Staged8::F32<float, false>;

template <const std::string_view& kKernel, DivideWindows kDivide>
std::span<const DeviceKernel> acc_instances() {
  static constexpr DeviceKernel kRows[] = {DividedInstance<AccTiles, kDivide, kAccVersion>::row(
      kKernel, launch_tf32_of<instances<kBitTcfStaged>>)};
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
using WriteThroughTiles = TileInstance<WriteThrough<Direct8::Single<float, AccMath>, TileDirect>,
                                       WriteThrough<Direct8::Whole<float, AccMath, 1>, TileDirect>,
                                       WriteThrough<Staged8::Narrow<float, AccMath, 2>, TileStaged>>;

}  // namespace

std::span<const DeviceKernel> acc_kernels() { return acc_instances<kBitTcfAcc, divide_acc>(); }
std::span<const DeviceKernel> acc_write_through_kernels() {
  static constexpr DeviceKernel kRows[] = {DividedInstance<WriteThroughTiles, divide_acc, kAccVersion>::row(
      kBitTcfAccWriteThrough, WriteThroughTiles::launch)};
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
