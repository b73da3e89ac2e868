// SpMM on tensor cores for layouts with 16x8 tiles: me_tcf and bmat. The tile is two 8x8 tiles, one above the
// other, that share their B rows: these are loaded once for 16 rows of C.
#pragma once

#include <span>

#include "runtime/cuda/device_kernel.hpp"

namespace sptile::runtime::cuda {

std::span<const DeviceKernel> me_tcf_kernels();
std::span<const DeviceKernel> bmat_kernels();
std::span<const DeviceKernel> bmat_staged_kernels();

/// bmat by bulk copies, on devices that have them.
std::span<const DeviceKernel> bmat_bulk_kernels();

struct Sizes16 {
  static constexpr int kSingle = 112, kF32x1 = 104, kF32x2 = 128, kF16x1 = 120, kF16x2 = 168, kF64x1 = 120,
                       kF64x2 = 168;
  static constexpr int kStagedWarps = 16, kWidestF32 = 4, kWidestWarps = 12;
};

}  // namespace sptile::runtime::cuda
