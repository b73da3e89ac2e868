#include "runtime/cuda/built.hpp"
#include "runtime/cuda/families/sddmm/sddmm.hpp"
#include "runtime/operation/sddmm.hpp"

namespace sptile::runtime::cuda {
namespace {

constexpr std::string_view kRowsSummary = "dot products on CUDA cores, load-balanced entries";
constexpr std::string_view kDirect =
    "dot products on CUDA cores, row of X in registers, lanes chosen by row length";
constexpr std::string_view kTiles = "dot products of tiles on tensor cores";
constexpr std::string_view kHybrid = "dot products of tiles on tensor cores, other entries on CUDA cores";

constexpr std::string_view kApart = "dot products of tiles on tensor cores, then other entries on CUDA cores";

constexpr Kernel row(std::string_view name, std::string_view format, std::string_view summary,
                     Instances instances) {
  return {.name = name,
          .op = &kSddmm,
          .format = format,
          .device = Device::cuda,
          .isa = "sm_80",
          .summary = summary,
          .instances = instances};
}

constexpr Kernel kRows[] = {
    row(kCsrSddmm, "csr", kRowsSummary, SPTILE_BUILT(csr_sddmm_kernels)),
    row(kCsrSddmmDirect, "csr", kDirect, SPTILE_BUILT(csr_sddmm_direct_kernels)),
    row(kBitTcfSddmm, "bittcf", kTiles, SPTILE_BUILT(bittcf_sddmm_kernels)),
    row(kRsTileSddmm, "rs_tile", kHybrid, SPTILE_BUILT(rs_tile_sddmm_kernels)),
    row(kLibraSpmmSddmm, "libra_spmm", kHybrid, SPTILE_BUILT(libra_spmm_sddmm_kernels)),
    row(kLibraSddmmSddmm, "libra_sddmm", kHybrid, SPTILE_BUILT(libra_sddmm_sddmm_kernels)),
    row(kMeTcfSddmm, "me_tcf", kTiles, SPTILE_BUILT(me_tcf_sddmm_kernels)),
    row(kHcWindowSddmm, "hc_window", kApart, SPTILE_BUILT(hc_window_sddmm_kernels)),
    row(kBmatSddmm, "bmat", kTiles, SPTILE_BUILT(bmat_sddmm_kernels)),
};

}  // namespace

std::span<const Kernel> sddmm_kernel_rows() { return kRows; }

}  // namespace sptile::runtime::cuda
