// Kernels that keep one kind of cores or both busy, with operands in registers.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace sptile::tools::cuda {

/// Warps of a block: the first half runs on tensor cores, the second half on CUDA cores.
inline constexpr int kCoreWarps = 8, kWarpsOfKind = kCoreWarps / 2;
/// Floating-point operations of one iteration of a block.
inline constexpr double kMmaFlops = kWarpsOfKind * 8 * 2.0 * 16 * 8 * 8;
inline constexpr double kFmaFlops = kWarpsOfKind * 16 * 2.0 * 32;

/// Runs iterations of 8 m16n8k8 products in the first half of the warps, and of 16 multiply-adds per lane in
/// the second half; 0: those warps end at once. `sink` is one float in device memory, never written. Returns
/// a cudaError_t.
int run_cores(int mma_iterations, int fma_iterations, int blocks, float* sink, cudaStream_t stream);

}  // namespace sptile::tools::cuda
