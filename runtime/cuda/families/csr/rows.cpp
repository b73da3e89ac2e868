#include "runtime/cuda/built.hpp"
#include "runtime/cuda/collective/csr_rows.hpp"
#include "runtime/cuda/families/csr/csr.hpp"
#include "runtime/cuda/families/csr/resident.hpp"
#include "runtime/cuda/families/csr/shares.hpp"
#include "runtime/cuda/families/csr/stream.hpp"
#include "runtime/operation/spmm.hpp"

namespace sptile::runtime::cuda {
namespace {

constexpr Kernel csr_row(std::string_view name, std::string_view summary, Instances instances) {
  return {.name = name,
          .op = &kSpmm,
          .format = "csr",
          .device = Device::cuda,
          .isa = "sm_80",
          .summary = summary,
          .instances = instances};
}

constexpr Kernel kRows[] = {
    csr_row(kCsrShares, "equal numbers of nonzeros per group of lanes, one cache line of B at a time",
            SPTILE_BUILT(shares_kernels)),
    csr_row(kCsrRows, "load-balanced rows on CUDA cores, long rows split", SPTILE_BUILT(csr_kernels)),
    csr_row(kCsrResident, "for few columns and large n: a slice of B in shared memory",
            SPTILE_BUILT(resident_kernels)),
    csr_row(kCsrStream, "for n = 1: equal numbers of entries per block, rows summed in shared memory",
            SPTILE_BUILT(stream_kernels)),
    csr_row(kCsrDirect, "for small matrices and small n: lanes chosen by row length",
            SPTILE_BUILT(direct_kernels)),
};

}  // namespace

std::span<const Kernel> csr_rows() { return kRows; }

}  // namespace sptile::runtime::cuda
