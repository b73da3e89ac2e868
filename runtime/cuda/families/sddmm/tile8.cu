#include "runtime/cuda/families/sddmm/launch.cuh"
#include "runtime/cuda/families/sddmm/sddmm.hpp"

namespace sptile::runtime::cuda {
namespace {

using Family = SddmmFamily<SddmmMask8>;

}  // namespace

std::span<const DeviceKernel> bittcf_sddmm_kernels() { return sddmm_instances<kBitTcfSddmm, Family>(); }
std::span<const DeviceKernel> rs_tile_sddmm_kernels() { return sddmm_instances<kRsTileSddmm, Family>(); }
std::span<const DeviceKernel> libra_spmm_sddmm_kernels() {
  return sddmm_instances<kLibraSpmmSddmm, Family>();
}
std::span<const DeviceKernel> libra_sddmm_sddmm_kernels() {
  return sddmm_instances<kLibraSddmmSddmm, Family>();
}

}  // namespace sptile::runtime::cuda
