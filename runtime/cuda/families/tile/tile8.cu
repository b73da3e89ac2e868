// Formats with 8x8 tiles: bittcf, and rs_tile and those of Libra with additional rows.
#include "runtime/cuda/families/tile/hybrid.cuh"
#include "runtime/cuda/families/tile/tile.hpp"
#include "runtime/cuda/families/tile/tile8.cuh"

namespace sptile::runtime::cuda {

std::span<const DeviceKernel> bittcf_kernels() { return instances<kBitTcfMma, Direct8>(); }
std::span<const DeviceKernel> bittcf_staged_kernels() { return instances<kBitTcfStaged, Staged8>(); }
std::span<const DeviceKernel> rs_tile_kernels() { return instances<kRsTileMma, Direct8>(); }
std::span<const DeviceKernel> libra_spmm_kernels() {
  return instances<kLibraSpmmMma, HybridFamily<Staged8>>();
}
std::span<const DeviceKernel> libra_sddmm_kernels() {
  return instances<kLibraSddmmMma, HybridFamily<Staged8>>();
}

}  // namespace sptile::runtime::cuda
