#include "runtime/cuda/built.hpp"
#include "runtime/cuda/papers/bulk/bulk.hpp"
#include "runtime/cuda/papers/bulk/schedule.hpp"
#include "runtime/operation/spmm.hpp"

namespace sptile::runtime::cuda {
namespace {
constexpr Kernel kRows[] = {
    {.name = kBmatBulk,
     .op = &kSpmm,
     .format = "bmat",
     .device = Device::cuda,
     .isa = "sm_90",
     .summary = "16x8 tiles on tensor cores, bulk copies of B, persistent load-balanced blocks",
     .by_name = true,
     .costs = kBulkCosts,
     .instances = SPTILE_BUILT(bmat_bulk_kernels)}};
}

std::span<const Kernel> bulk_rows() { return kRows; }

}  // namespace sptile::runtime::cuda
