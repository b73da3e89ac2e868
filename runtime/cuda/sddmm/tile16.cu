#include "runtime/cuda/sddmm/launch.cuh"
#include "runtime/cuda/sddmm/sddmm.hpp"

namespace sptile::runtime::cuda {
namespace {
struct Registers16 {
  static constexpr int kF32Narrow = 80, kF32Wide = 168, kF16Narrow = 64, kF16Wide = 128;
};
}  // namespace

std::span<const DeviceKernel> me_tcf_sddmm_kernels() {
  return sddmm_instances<kMeTcfSddmm, SddmmFamily<SddmmMask16, Registers16>>();
}
std::span<const DeviceKernel> hc_window_sddmm_kernels() {
  return sddmm_instances<kHcWindowSddmm, SddmmFamily<SddmmMask16, Registers16>>();
}
std::span<const DeviceKernel> bmat_sddmm_kernels() {
  return sddmm_instances<kBmatSddmm, SddmmFamily<SddmmWords16, Registers16>>();
}

}  // namespace sptile::runtime::cuda
