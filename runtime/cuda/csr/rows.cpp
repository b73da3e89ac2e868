#include "runtime/cuda/built.hpp"
#include "runtime/cuda/csr/csr.hpp"
#include "runtime/cuda/csr/direct.hpp"
#include "runtime/cuda/csr/resident.hpp"
#include "runtime/cuda/csr/stream.hpp"
#include "runtime/operation/spmm.hpp"

namespace sptile::runtime::cuda {
namespace {
constexpr Kernel kRows[] = {
    {.name = kCsrRows,
     .op = &kSpmm,
     .format = "csr",
     .device = Device::cuda,
     .isa = "sm_80",
     .summary = "balanced runs of rows on CUDA cores, long rows in pieces",
     .instances = SPTILE_BUILT(csr_kernels)},
    {.name = kCsrResident,
     .op = &kSpmm,
     .format = "csr",
     .device = Device::cuda,
     .isa = "sm_80",
     .summary = "few columns, wide products: a slice of B stays in shared memory",
     .instances = SPTILE_BUILT(resident_kernels)},
    {.name = kCsrStream,
     .op = &kSpmm,
     .format = "csr",
     .device = Device::cuda,
     .isa = "sm_80",
     .summary = "one column: blocks of equal numbers of entries, rows added in shared memory",
     .instances = SPTILE_BUILT(stream_kernels)},
    {.name = kCsrDirect,
     .op = &kSpmm,
     .format = "csr",
     .device = Device::cuda,
     .isa = "sm_80",
     .summary = "rows by as many lanes as they want, for small and narrow products",
     .instances = SPTILE_BUILT(direct_kernels)}};
}

std::span<const Kernel> csr_rows() { return kRows; }

}  // namespace sptile::runtime::cuda
