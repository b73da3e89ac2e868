#include "runtime/cuda/families/tile/tile.hpp"
#include "runtime/cuda/papers/acc/acc.hpp"
#include "runtime/cuda/papers/by_name.hpp"
#include "runtime/operation/sddmm.hpp"

namespace sptile::runtime::cuda {
namespace {

constexpr Kernel row(std::string_view name, std::string_view summary, Instances instances) {
  return by_name(name, "bittcf", summary, instances);
}

/// A kernel with the main loop of cuda.bittcf.staged.
constexpr Kernel staged_row(std::string_view name, std::string_view summary, Instances instances) {
  Kernel kernel = row(name, summary, instances);
  kernel.like = kBitTcfStaged;
  return kernel;
}

constexpr Kernel sddmm_row(std::string_view name, std::string_view summary, Instances instances) {
  Kernel kernel = by_name(name, "me_tcf", summary, instances);
  kernel.op = &kSddmm;
  return kernel;
}

constexpr Kernel kRows[] = {
#ifdef SPTILE_ABLATIONS
    row(kBitTcfAccWindows, "like .acc, but never load-balanced", SPTILE_BUILT(acc_windows_kernels)),
    row(kBitTcfAccBalanced, "like .acc, but always load-balanced", SPTILE_BUILT(acc_balanced_kernels)),
    row(kBitTcfAccPipelineWindows, "like .acc_pipeline, but never load-balanced",
        SPTILE_BUILT(acc_pipeline_windows_kernels)),
    row(kBitTcfAccDtcPipelineWindows, "like .acc_dtc_pipeline, but never load-balanced",
        SPTILE_BUILT(acc_dtc_pipeline_windows_kernels)),
#endif
    staged_row(kBitTcfAccWriteThrough, "like .acc, but with write-through stores of C",
               SPTILE_BUILT(acc_write_through_kernels)),
    staged_row(kBitTcfAcc, "Acc-SpMM load balancing if windows differ by more than 8 tiles on average",
               SPTILE_BUILT(acc_kernels)),
    row(kBitTcfAccPipeline, "Acc-SpMM pipeline: blocks load B while they multiply the previous tile",
        SPTILE_BUILT(acc_pipeline_kernels)),
    row(kBitTcfAccDtcPipeline, "like .acc_pipeline, but in the order of DTC-SpMM: B is not prefetched",
        SPTILE_BUILT(acc_dtc_pipeline_kernels)),
    by_name(kMeTcfDecoded, "me_tcf", "DTC-SpMM pipeline, one block per window, ids decoded by the kernel",
            SPTILE_BUILT(me_tcf_decoded_kernels)),
    sddmm_row(kMeTcfSddmmDecoded, "like .sddmm, but results are found by traversing the ids of each tile",
              SPTILE_BUILT(me_tcf_sddmm_decoded_kernels)),
};

}  // namespace

std::span<const Kernel> acc_rows() { return kRows; }

}  // namespace sptile::runtime::cuda
