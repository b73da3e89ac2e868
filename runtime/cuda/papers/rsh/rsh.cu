// SpMM of rs_tile in its stored windows and pieces, with the machine code of cuda.rs_tile.mma.
#include "runtime/cuda/papers/rsh/rsh.hpp"

#include "runtime/cuda/families/tile/divided.cuh"
#include "runtime/cuda/families/tile/tile.hpp"
#include "runtime/cuda/families/tile/tile8.cuh"
#include "runtime/cuda/instance_parts.hpp"
#include "runtime/cuda/papers/rsh/pieces.hpp"

namespace sptile::runtime::cuda {
namespace {

/// Version of the divisions.
constexpr std::uint32_t kRshVersion = 1;

/// Tiles of the paper's types: f32 values and operands, products in tf32.
using RshTiles = Direct8::F32<float, false>;

template <const std::string_view& kKernel, DivideWindows kDivide>
std::span<const DeviceKernel> rsh_instances() {
  static constexpr DeviceKernel kRows[] = {
      DividedInstance<RshTiles, kDivide, kRshVersion>::row(kKernel, launch_tf32_of<instances<kRsTileMma>>)};
  return kRows;
}

}  // namespace

std::span<const DeviceKernel> rsh_kernels() { return rsh_instances<kRsTileRsh, divide_stored>(); }
#ifdef SPTILE_ABLATIONS
std::span<const DeviceKernel> rsh_runs_kernels() {
  return rsh_instances<kRsTileRshRuns, divide_stored_runs>();
}
#endif

}  // namespace sptile::runtime::cuda
