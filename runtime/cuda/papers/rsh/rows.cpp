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
    row(kRsTileRsh, "RSH-SpMM: stored windows and stored segments of long windows",
        SPTILE_BUILT(rsh_kernels)),
};

}  // namespace

std::span<const Kernel> rsh_rows() { return kRows; }

}  // namespace sptile::runtime::cuda
