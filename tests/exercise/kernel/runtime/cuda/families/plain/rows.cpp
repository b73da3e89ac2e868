#include "runtime/cuda/built.hpp"
#include "runtime/cuda/families/plain/plain.hpp"
#include "runtime/operation/spmm.hpp"

namespace sptile::runtime::cuda {
namespace {
constexpr Kernel kRows[] = {{.name = kCsrPlain,
                             .op = &kSpmm,
                             .format = "csr",
                             .device = Device::cuda,
                             .isa = "sm_80",
                             .summary = "a toy: a warp for each row",
                             .by_name = true,
                             .instances = SPTILE_BUILT(plain_kernels)}};
}

std::span<const Kernel> plain_rows() { return kRows; }

}  // namespace sptile::runtime::cuda
