// SpMM on tensor cores for layouts with 16x8 tiles: me_tcf and bmat. The tile is two 8x8 tiles, one above the
// other, that share their B rows: these are loaded once for 16 rows of C.
#pragma once

#include <span>

#include "runtime/cuda/spmm_kernel.hpp"

namespace sptile::runtime::cuda {

std::span<const SpmmKernel> me_tcf_kernels();
std::span<const SpmmKernel> bmat_kernels();

/// Blocks of 4 warps on a multiprocessor, as the registers allow (ptxas -v; sm_90).
struct Blocks16 {
  static constexpr int kSingle = 4, kF32x1 = 5, kF32x2 = 4, kF16x1 = 4, kF16x2 = 3, kF64x1 = 4, kF64x2 = 3;
};

}  // namespace sptile::runtime::cuda
