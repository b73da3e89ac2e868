#include "runtime/cuda/built.hpp"
#include "runtime/cuda/papers/bulk/bulk.hpp"
#include "runtime/cuda/papers/bulk/schedule.hpp"
#include "runtime/operation/spmm.hpp"

namespace sptile::runtime::cuda {
namespace {

constexpr Kernel row(std::string_view name, std::string_view summary, Instances instances) {
  return {.name = name,
          .op = &kSpmm,
          .format = "bmat",
          .device = Device::cuda,
          .isa = "sm_90",
          .summary = summary,
          .by_name = true,
          .costs = kBulkCosts,
          .like = name == kBmatBulk ? std::string_view() : kBmatBulk,
          .instances = instances};
}

#ifdef SPTILE_ABLATIONS
/// A row whose results are undefined.
constexpr Kernel undefined_row(std::string_view name, std::string_view summary, Instances instances) {
  Kernel kernel = row(name, summary, instances);
  kernel.deterministic = false;
  kernel.undefined_result = true;
  return kernel;
}
#endif

constexpr Kernel kRows[] = {
#ifdef SPTILE_ABLATIONS
    undefined_row(kBmatVoltrixAsync, "like .voltrix, but consumers do not wait for copies (Fully-Async)",
                  SPTILE_BUILT(bmat_voltrix_async_kernels)),
    row(kBmatVoltrixSync, "like .voltrix, but with one stage (Fully-Sync)",
        SPTILE_BUILT(bmat_voltrix_sync_kernels)),
    row(kBmatVoltrixWindows, "like .voltrix, but with one block per window",
        SPTILE_BUILT(bmat_voltrix_windows_kernels)),
    row(kBmatVoltrixNoRoles, "like .voltrix_windows, but all warps load, wait and multiply",
        SPTILE_BUILT(bmat_voltrix_no_roles_kernels)),
    row(kBmatVoltrixUnbalanced, "like .voltrix, but with equal numbers of windows per block",
        SPTILE_BUILT(bmat_voltrix_unbalanced_kernels)),
#endif
    row(kBmatVoltrix, "like .bulk_genetic, with tiles decoded by each consumer, as in Voltrix-SpMM",
        SPTILE_BUILT(bmat_voltrix_kernels)),
    row(kBmatBulkGreedy, "like .bulk, divided by Algorithm 1 of Voltrix-SpMM",
        SPTILE_BUILT(bmat_bulk_greedy_kernels)),
    row(kBmatBulkGenetic, "like .bulk_greedy, refined by one generation of a genetic algorithm",
        SPTILE_BUILT(bmat_bulk_genetic_kernels)),
    row(kBmatBulk, "16x8 tiles on tensor cores, bulk copies of B, persistent load-balanced blocks",
        SPTILE_BUILT(bmat_bulk_kernels)),
};

}  // namespace

std::span<const Kernel> bulk_rows() { return kRows; }

}  // namespace sptile::runtime::cuda
