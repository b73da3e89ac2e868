// Kernels of spmm_update and update_gradient: fused with aggregation, after the SpMM of any format, and
// gradients.
#pragma once

#include <span>
#include <string_view>

#include "runtime/core/kernel.hpp"
#include "runtime/cuda/device_kernel.hpp"

namespace sptile::runtime::cuda {

inline constexpr std::string_view kFusedUpdate = "cuda.csr.update";
inline constexpr std::string_view kUpdateGradientRows = "cuda.csr.update_gradient";

/// A format whose SpMM precedes an update, and the kernel of both.
struct UpdateAfter {
  std::string_view format, kernel;
};
inline constexpr UpdateAfter kUpdateAfter[] = {
    {"csr", "cuda.csr.update2"},
    {"me_tcf", "cuda.me_tcf.update2"},
    {"bmat", "cuda.bmat.update2"},
    {"bittcf", "cuda.bittcf.update2"},
    {"rs_tile", "cuda.rs_tile.update2"},
    {"tall", "cuda.tall.update2"},
    {"libra_spmm", "cuda.libra_spmm.update2"},
    {"libra_sddmm", "cuda.libra_sddmm.update2"},
    {"hc_window", "cuda.hc_window.update2"},
};

std::span<const Kernel> update_rows();

std::span<const DeviceKernel> fused_update_kernels();
/// Instances for each of kUpdateAfter.
template <int kIndex>
std::span<const DeviceKernel> dense_update_kernels();
std::span<const DeviceKernel> update_gradient_kernels();

}  // namespace sptile::runtime::cuda
