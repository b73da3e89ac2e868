// SpMM of libra_spmm and SDDMM of libra_sddmm with the scheduling of the paper: run only by name.
#pragma once

#include <span>
#include <string_view>

#include "runtime/core/kernel.hpp"
#include "runtime/cuda/device_kernel.hpp"

namespace sptile::runtime::cuda {

inline constexpr std::string_view kLibraStreams = "cuda.libra_spmm.streams",
                                  kLibraFitted = "cuda.libra_spmm.streams_fitted",
                                  kLibraSequential = "cuda.libra_spmm.sequential",
                                  kLibraConcurrent = "cuda.libra_spmm.concurrent",
                                  kLibraUncutName = "cuda.libra_spmm.uncut",
                                  kLibraStaged = "cuda.libra_spmm.streams_staged";
inline constexpr std::string_view kLibraSddmmStreams = "cuda.libra_sddmm.streams",
                                  kLibraSddmmSequential = "cuda.libra_sddmm.sequential",
                                  kLibraSddmmConcurrent = "cuda.libra_sddmm.concurrent",
                                  kLibraSddmmUncut = "cuda.libra_sddmm.uncut";

std::span<const Kernel> libra_streams_rows();

std::span<const DeviceKernel> libra_streams_kernels();
std::span<const DeviceKernel> libra_fitted_kernels();
std::span<const DeviceKernel> libra_sequential_kernels();
std::span<const DeviceKernel> libra_concurrent_kernels();
std::span<const DeviceKernel> libra_sddmm_streams_kernels();
std::span<const DeviceKernel> libra_sddmm_sequential_kernels();
std::span<const DeviceKernel> libra_sddmm_concurrent_kernels();
/// Built with -Dablations=enabled.
std::span<const DeviceKernel> libra_uncut_kernels();
std::span<const DeviceKernel> libra_staged_kernels();
std::span<const DeviceKernel> libra_sddmm_uncut_kernels();

}  // namespace sptile::runtime::cuda
