// Acc-SpMM (PPoPP 2025): the load balancing, cache policy and pipeline of sections 3.4 and 3.5 for bittcf,
// and the baselines of its evaluation, the pipeline and the format of DTC-SpMM. They run by name; plans may
// also choose those with the machine code of staged kernels if the profile has their times.
#pragma once

#include <span>
#include <string_view>

#include "runtime/core/kernel.hpp"
#include "runtime/cuda/device_kernel.hpp"

namespace sptile::runtime::cuda {

inline constexpr std::string_view kBitTcfAcc = "cuda.bittcf.acc",
                                  kBitTcfAccBalanced = "cuda.bittcf.acc_balanced",
                                  kBitTcfAccWindows = "cuda.bittcf.acc_windows",
                                  kBitTcfAccWriteThrough = "cuda.bittcf.acc_write_through",
                                  kBitTcfAccPipeline = "cuda.bittcf.acc_pipeline",
                                  kBitTcfAccPipelineWindows = "cuda.bittcf.acc_pipeline_windows",
                                  kBitTcfAccDtcPipeline = "cuda.bittcf.acc_dtc_pipeline",
                                  kBitTcfAccDtcPipelineWindows = "cuda.bittcf.acc_dtc_pipeline_windows",
                                  kMeTcfDecoded = "cuda.me_tcf.decoded",
                                  kMeTcfSddmmDecoded = "cuda.me_tcf.sddmm_decoded";

std::span<const Kernel> acc_rows();

std::span<const DeviceKernel> acc_kernels();
std::span<const DeviceKernel> acc_write_through_kernels();
std::span<const DeviceKernel> acc_pipeline_kernels();
std::span<const DeviceKernel> acc_dtc_pipeline_kernels();
std::span<const DeviceKernel> me_tcf_decoded_kernels();
std::span<const DeviceKernel> me_tcf_sddmm_decoded_kernels();

// Built with -Dablations=enabled:
std::span<const DeviceKernel> acc_balanced_kernels();
std::span<const DeviceKernel> acc_windows_kernels();
std::span<const DeviceKernel> acc_pipeline_windows_kernels();
std::span<const DeviceKernel> acc_dtc_pipeline_windows_kernels();

}  // namespace sptile::runtime::cuda
