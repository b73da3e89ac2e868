#include "runtime/cuda/built.hpp"
#include "runtime/cuda/families/tile/tile.hpp"
#include "runtime/cuda/instance_parts.hpp"
#include "runtime/operation/spmm.hpp"

namespace sptile::runtime::cuda {
namespace {

constexpr std::string_view kTiles = "tiles on tensor cores, load-balanced windows, long windows split";
constexpr std::string_view kStaged =
    "like the kernel without .staged, but copies B, values and masks asynchronously to shared memory";
constexpr std::string_view kShortRows = "tiles on tensor cores, residual rows on CUDA cores";
constexpr std::string_view kHybrid = "tiles on tensor cores, then residual rows on CUDA cores, accumulated";
constexpr std::string_view kMixed =
    "tile windows on tensor cores and row windows on CUDA cores in one launch";

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

constexpr Kernel staged_rs_tile() {
  Kernel kernel = row(kRsTileStaged, "rs_tile", kStaged, SPTILE_BUILT(instances<kRsTileStaged>));
  kernel.by_name = true;
  kernel.like = kRsTileMma;
  return kernel;
}

constexpr Kernel kRows[] = {
    staged_rs_tile(),
    row(kMeTcfMma, "me_tcf", kTiles, SPTILE_BUILT(instances<kMeTcfMma>)),
    row(kBmatMma, "bmat", kTiles, SPTILE_BUILT(instances<kBmatMma>)),
    row(kBmatStaged, "bmat", kStaged, SPTILE_BUILT(instances<kBmatStaged>)),
    row(kBitTcfMma, "bittcf", kTiles, SPTILE_BUILT(instances<kBitTcfMma>)),
    row(kBitTcfStaged, "bittcf", kStaged, SPTILE_BUILT(instances<kBitTcfStaged>)),
    row(kRsTileMma, "rs_tile", kShortRows, SPTILE_BUILT(instances<kRsTileMma>)),
    row(kLibraSddmmMma, "libra_sddmm", kHybrid, SPTILE_BUILT(instances<kLibraSddmmMma>), 2),
    row(kLibraSpmmMma, "libra_spmm", kHybrid, SPTILE_BUILT(instances<kLibraSpmmMma>), 2),
    row(kHcWindowHybrid, "hc_window", kMixed, SPTILE_BUILT(instances<kHcWindowHybrid>)),
    row(kHcWindowApart, "hc_window", "tile windows on tensor cores, row windows with the csr kernel",
        SPTILE_BUILT(instances<kHcWindowApart>)),
};

}  // namespace

std::span<const Kernel> tile_rows() { return kRows; }

}  // namespace sptile::runtime::cuda
