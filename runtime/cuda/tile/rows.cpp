#include "runtime/cuda/built.hpp"
#include "runtime/cuda/tile/tile.hpp"
#include "runtime/operation/spmm.hpp"

namespace sptile::runtime::cuda {
namespace {

constexpr std::string_view kTiles = "tiles on tensor cores, balanced runs of windows, long ones in pieces";
constexpr std::string_view kStaged =
    "the same, with rows of B, values and masks staged in shared memory by asynchronous copies";
constexpr std::string_view kShortRows = "tiles on tensor cores, residual rows on CUDA cores";
constexpr std::string_view kHybrid =
    "tiles on tensor cores, then the residual rows on CUDA cores, added to what is there";
constexpr std::string_view kMixed =
    "windows in tiles on tensor cores and those in rows on CUDA cores, mixed in one launch";

constexpr Kernel row(std::string_view name, std::string_view format, std::string_view summary,
                     Instances instances, int stores = 1) {
  return {.name = name,
          .op = &kSpmm,
          .format = format,
          .device = Device::cuda,
          .isa = "sm_80",
          .summary = summary,
          .stores = stores,
          .instances = instances};
}

constexpr Kernel kRows[] = {
    row(kMeTcfMma, "me_tcf", kTiles, SPTILE_BUILT(me_tcf_kernels)),
    row(kBmatMma, "bmat", kTiles, SPTILE_BUILT(bmat_kernels)),
    row(kBmatStaged, "bmat", kStaged, SPTILE_BUILT(bmat_staged_kernels)),
    row(kBitTcfMma, "bittcf", kTiles, SPTILE_BUILT(bittcf_kernels)),
    row(kBitTcfStaged, "bittcf", kStaged, SPTILE_BUILT(bittcf_staged_kernels)),
    row(kRsTileMma, "rs_tile", kShortRows, SPTILE_BUILT(rs_tile_kernels)),
    row(kLibraSddmmMma, "libra_sddmm", kHybrid, SPTILE_BUILT(libra_sddmm_kernels), 2),
    row(kLibraSpmmMma, "libra_spmm", kHybrid, SPTILE_BUILT(libra_spmm_kernels), 2),
    row(kHcWindowHybrid, "hc_window", kMixed, SPTILE_BUILT(hc_window_kernels)),
    row(kHcWindowApart, "hc_window", "windows in tiles, beside them windows in rows by the csr kernel",
        SPTILE_BUILT(hc_window_apart_kernels)),
};

}  // namespace

std::span<const Kernel> tile_rows() { return kRows; }

}  // namespace sptile::runtime::cuda
