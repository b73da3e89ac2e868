// bmat with bulk copies as in Voltrix-SpMM, for comparison: run only by name.
#pragma once

#include <span>
#include <string_view>

#include "runtime/core/kernel.hpp"
#include "runtime/cuda/device_kernel.hpp"

namespace sptile::runtime::cuda {

inline constexpr std::string_view kBmatBulk = "cuda.bmat.bulk", kBmatBulkGreedy = "cuda.bmat.bulk_greedy",
                                  kBmatBulkGenetic = "cuda.bmat.bulk_genetic",
                                  kBmatVoltrix = "cuda.bmat.voltrix",
                                  kBmatVoltrixSync = "cuda.bmat.voltrix_sync",
                                  kBmatVoltrixAsync = "cuda.bmat.voltrix_async",
                                  kBmatVoltrixWindows = "cuda.bmat.voltrix_windows",
                                  kBmatVoltrixNoRoles = "cuda.bmat.voltrix_no_roles",
                                  kBmatVoltrixUnbalanced = "cuda.bmat.voltrix_unbalanced";

std::span<const Kernel> bulk_rows();

std::span<const DeviceKernel> bmat_bulk_kernels();
std::span<const DeviceKernel> bmat_bulk_greedy_kernels();
std::span<const DeviceKernel> bmat_bulk_genetic_kernels();
std::span<const DeviceKernel> bmat_voltrix_kernels();

// Built with -Dablations=enabled:
std::span<const DeviceKernel> bmat_voltrix_sync_kernels();
std::span<const DeviceKernel> bmat_voltrix_async_kernels();
std::span<const DeviceKernel> bmat_voltrix_windows_kernels();
std::span<const DeviceKernel> bmat_voltrix_no_roles_kernels();
std::span<const DeviceKernel> bmat_voltrix_unbalanced_kernels();

}  // namespace sptile::runtime::cuda
