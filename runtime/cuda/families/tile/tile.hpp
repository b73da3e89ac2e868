// SpMM on tensor cores for formats with tiles in windows of 8 or 16 rows.
#pragma once

#include <span>
#include <string_view>

#include "runtime/core/kernel.hpp"

namespace sptile::runtime::cuda {

inline constexpr std::string_view kBitTcfMma = "cuda.bittcf.mma", kBitTcfStaged = "cuda.bittcf.staged",
                                  kRsTileMma = "cuda.rs_tile.mma", kRsTileStaged = "cuda.rs_tile.staged",
                                  kMeTcfMma = "cuda.me_tcf.mma", kBmatMma = "cuda.bmat.mma",
                                  kBmatStaged = "cuda.bmat.staged", kLibraSpmmMma = "cuda.libra_spmm.mma",
                                  kLibraSddmmMma = "cuda.libra_sddmm.mma",
                                  kHcWindowHybrid = "cuda.hc_window.hybrid",
                                  kHcWindowApart = "cuda.hc_window.apart";

std::span<const Kernel> tile_rows();

}  // namespace sptile::runtime::cuda
