#include "runtime/cuda/papers/by_name.hpp"
#include "runtime/cuda/papers/rsh/rsh.hpp"

namespace sptile::runtime::cuda {
namespace {

constexpr Kernel row(std::string_view name, std::string_view summary, Instances instances) {
  return by_name(name, "rs_tile", summary, instances);
}

constexpr Kernel kRows[] = {
#ifdef SPTILE_ABLATIONS
    row(kRsTileRshRuns, "like .rsh, but with unsplit windows in runs", SPTILE_BUILT(rsh_runs_kernels)),
#endif
    row(kRsTileRsh, "RSH-SpMM: a block per stored window or segment; f32 operands like .mma",
        SPTILE_BUILT(rsh_kernels)),
};

}  // namespace

std::span<const Kernel> rsh_rows() { return kRows; }

}  // namespace sptile::runtime::cuda
