#include "runtime/cuda/papers/by_name.hpp"
#include "runtime/cuda/papers/hygnn/hygnn.hpp"

namespace sptile::runtime::cuda {
namespace {

constexpr Kernel row(std::string_view name, std::string_view summary, Instances instances) {
  return by_name(name, "hc_window", summary, instances);
}

constexpr Kernel kRows[] = {
    row(kHygnnPlainLoad, "as .paper, rows of B brought to shared memory two at a time",
        SPTILE_BUILT(hygnn_plain_load_kernels)),
    row(kHygnnGlobalEdges, "as .paper, entries of rows read where they stand",
        SPTILE_BUILT(hygnn_global_edges_kernels)),
    row(kHygnnFixed32, "as .paper, always 32 threads for a row", SPTILE_BUILT(hygnn_fixed_32_kernels)),
    row(kHygnnPaper, "a block for each window, with the memory tricks of HyGNN", SPTILE_BUILT(hygnn_kernels)),
};

}  // namespace

std::span<const Kernel> hygnn_rows() { return kRows; }

}  // namespace sptile::runtime::cuda
