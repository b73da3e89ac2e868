#include "runtime/cuda/papers/by_name.hpp"
#include "runtime/cuda/papers/hygnn/hygnn.hpp"
#include "runtime/operation/layer_gradient.hpp"
#include "runtime/operation/spmm_update.hpp"

namespace sptile::runtime::cuda {
namespace {

constexpr Kernel row(std::string_view name, std::string_view summary, Instances instances) {
  return by_name(name, "hc_window", summary, instances);
}

constexpr Kernel kRows[] = {
#ifdef SPTILE_ABLATIONS
    row(kHygnnPlainLoad, "like .paper, but stages two rows of B in shared memory at a time",
        SPTILE_BUILT(hygnn_plain_load_kernels)),
    row(kHygnnGlobalEdges, "like .paper, but reads the entries of rows from global memory",
        SPTILE_BUILT(hygnn_global_edges_kernels)),
    row(kHygnnFixed32, "like .paper, but always with 32 threads per row",
        SPTILE_BUILT(hygnn_fixed_32_kernels)),
#endif
    row(kHygnnPaper, "one block per window, with the memory optimizations of HyGNN",
        SPTILE_BUILT(hygnn_kernels)),
    by_name(kHygnnUpdate, "hc_window",
            "HyGNN: fused, one block per window, aggregated on its cores, weights on tensor cores",
            SPTILE_BUILT(hygnn_update_kernels), kSpmmUpdate),
    by_name(kHygnnLayerGradient, "hc_window",
            "HyGNN: fused backward, dX and the block's part of dW from rows in shared memory",
            SPTILE_BUILT(hygnn_layer_gradient_kernels), kLayerGradient),
};

}  // namespace

std::span<const Kernel> hygnn_rows() { return kRows; }

}  // namespace sptile::runtime::cuda
