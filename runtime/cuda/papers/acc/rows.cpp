#include "runtime/cuda/papers/acc/acc.hpp"
#include "runtime/cuda/papers/by_name.hpp"

namespace sptile::runtime::cuda {
namespace {

constexpr Kernel row(std::string_view name, std::string_view summary, Instances instances) {
  return by_name(name, "bittcf", summary, instances);
}

constexpr Kernel kRows[] = {
#ifdef SPTILE_ABLATIONS
    row(kBitTcfAccWindows, "like .acc, but never load-balanced", SPTILE_BUILT(acc_windows_kernels)),
    row(kBitTcfAccBalanced, "like .acc, but always load-balanced", SPTILE_BUILT(acc_balanced_kernels)),
    row(kBitTcfAccWriteThrough, "like .acc, but with write-through stores of C",
        SPTILE_BUILT(acc_write_through_kernels)),
#endif
    row(kBitTcfAcc, "Acc-SpMM load balancing if windows differ by more than 8 tiles on average",
        SPTILE_BUILT(acc_kernels)),
};

}  // namespace

std::span<const Kernel> acc_rows() { return kRows; }

}  // namespace sptile::runtime::cuda
