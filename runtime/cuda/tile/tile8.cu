// Formats with 8x8 tiles: bittcf, and rs_tile and those of Libra with rows beside them.
#include "runtime/cuda/tile/hybrid.cuh"
#include "runtime/cuda/tile/sizes.hpp"
#include "runtime/cuda/tile/tile.hpp"

namespace sptile::runtime::cuda {
namespace {
using Direct = DirectFamily<Mask8, Sizes8>;
using Staged = StagedFamily<Mask8, Sizes8>;
}  // namespace

std::span<const DeviceKernel> bittcf_kernels() { return instances<kBitTcfMma, Direct>(); }
std::span<const DeviceKernel> bittcf_staged_kernels() { return instances<kBitTcfStaged, Staged>(); }
std::span<const DeviceKernel> rs_tile_kernels() { return instances<kRsTileMma, Direct>(); }
std::span<const DeviceKernel> libra_spmm_kernels() {
  return instances<kLibraSpmmMma, HybridFamily<Staged>>();
}
std::span<const DeviceKernel> libra_sddmm_kernels() {
  return instances<kLibraSddmmMma, HybridFamily<Staged>>();
}

}  // namespace sptile::runtime::cuda
