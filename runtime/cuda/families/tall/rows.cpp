#include "runtime/cuda/built.hpp"
#include "runtime/cuda/families/tall/tall.hpp"
#include "runtime/cuda/instance_parts.hpp"
#include "runtime/operation/spmm.hpp"

namespace sptile::runtime::cuda {
namespace {
constexpr Kernel kRows[] = {{.name = kTallStaged,
                             .op = &kSpmm,
                             .format = "tall",
                             .device = Device::cuda,
                             .isa = "sm_80",
                             .summary = "windows of up to 128 rows, rows of B staged in shared memory",
                             .instances = SPTILE_BUILT(instances<kTallStaged>)},
                            {.name = kTallWgmma,
                             .op = &kSpmm,
                             .format = "tall",
                             .device = Device::cuda,
                             .isa = "sm_90a",
                             .summary = "windows as dense tiles on warpgroups (wgmma), rows of B staged once",
                             .instances = SPTILE_BUILT(tall_wgmma_kernels)}};
}

std::span<const Kernel> tall_rows() { return kRows; }

}  // namespace sptile::runtime::cuda
