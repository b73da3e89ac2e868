#include "runtime/cuda/built.hpp"
#include "runtime/cuda/collective/csr_rows.hpp"
#include "runtime/cuda/families/csr/csr.hpp"
#include "runtime/cuda/families/csr/resident.hpp"
#include "runtime/cuda/families/csr/stream.hpp"
#include "runtime/operation/spmm.hpp"

namespace sptile::runtime::cuda {
namespace {
constexpr Kernel kRows[] = {
    {.name = kCsrRows,
     .op = &kSpmm,
     .format = "csr",
     .device = Device::cuda,
     .isa = "sm_80",
     .summary = "load-balanced rows on CUDA cores, long rows split",
     .instances = SPTILE_BUILT(csr_kernels)},
    {.name = kCsrResident,
     .op = &kSpmm,
     .format = "csr",
     .device = Device::cuda,
     .isa = "sm_80",
     .summary = "for few columns and large n: a slice of B in shared memory",
     .instances = SPTILE_BUILT(resident_kernels)},
    {.name = kCsrStream,
     .op = &kSpmm,
     .format = "csr",
     .device = Device::cuda,
     .isa = "sm_80",
     .summary = "for n = 1: equal numbers of entries per block, rows summed in shared memory",
     .instances = SPTILE_BUILT(stream_kernels)},
    {.name = kCsrDirect,
     .op = &kSpmm,
     .format = "csr",
     .device = Device::cuda,
     .isa = "sm_80",
     .summary = "for small matrices and small n: lanes chosen by row length",
     .instances = SPTILE_BUILT(direct_kernels)}};
}

std::span<const Kernel> csr_rows() { return kRows; }

}  // namespace sptile::runtime::cuda
