// csr on CUDA cores: 8, 16 or 32 lanes share a row, with 16 bytes of every row of B each; 32 lanes with twice
// 16 bytes if rows of B are multiples of 1,024 bytes.
#pragma once

#include <span>
#include <string_view>

#include "runtime/core/kernel.hpp"
#include "runtime/cuda/device_kernel.hpp"

namespace sptile::runtime::cuda {

inline constexpr std::string_view kCsrDirect = "cuda.csr.direct";

std::span<const Kernel> csr_rows();

std::span<const DeviceKernel> csr_kernels();
/// For small and narrow products. More lanes process the nonzeros of longer rows in turns, so that short
/// chains of loads keep all multiprocessors busy; narrow rows of B use few lanes, down to one.
std::span<const DeviceKernel> direct_kernels();

#ifdef SPTILE_ABLATIONS
inline constexpr std::string_view kCsrDirectSorted = "cuda.csr.direct_sorted",
                                  kCsrDirectLines = "cuda.csr.direct_lines",
                                  kCsrRowsWide = "cuda.csr.rows_wide", kCsrRowsLarge = "cuda.csr.rows_large",
                                  kCsrRowsTogether = "cuda.csr.rows_together";
std::span<const DeviceKernel> direct_sorted_kernels();
std::span<const DeviceKernel> direct_lines_kernels();
std::span<const DeviceKernel> csr_wide_kernels();
std::span<const DeviceKernel> csr_large_kernels();
std::span<const DeviceKernel> csr_together_kernels();
#endif

}  // namespace sptile::runtime::cuda
