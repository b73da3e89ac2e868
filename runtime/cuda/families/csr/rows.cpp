#include "runtime/cuda/built.hpp"
#include "runtime/cuda/collective/csr_rows.hpp"
#include "runtime/cuda/families/csr/csr.hpp"
#include "runtime/cuda/families/csr/resident.hpp"
#include "runtime/cuda/families/csr/shares.hpp"
#include "runtime/cuda/families/csr/stream.hpp"
#include "runtime/operation/spmm.hpp"

namespace sptile::runtime::cuda {
namespace {

/// A kernel that plans do not choose, because profiles have no constants for it.
constexpr Kernel named_row(std::string_view name, std::string_view summary, Instances instances) {
  return {.name = name,
          .op = &kSpmm,
          .format = "csr",
          .device = Device::cuda,
          .isa = "sm_80",
          .summary = summary,
          .by_name = true,
          .instances = instances};
}

constexpr Kernel kRows[] = {
#ifdef SPTILE_ABLATIONS
    named_row(kCsrRowsWide, "like .rows, with slices of 2,048 bytes", SPTILE_BUILT(csr_wide_kernels)),
    named_row(kCsrRowsLarge, "like .rows, with blocks of 256 threads for wide rows of B",
              SPTILE_BUILT(csr_large_kernels)),
    named_row(kCsrRowsTogether, "like .rows, with all slices of a row at about the same time",
              SPTILE_BUILT(csr_together_kernels)),
    named_row(kCsrDirectSorted, "like .direct, with neighbouring rows sorted by length",
              SPTILE_BUILT(direct_sorted_kernels)),
    named_row(kCsrDirectLines, "like .direct, with 8 lanes of one vector per row of B for 17 to 32 columns",
              SPTILE_BUILT(direct_lines_kernels)),
    named_row(kCsrSharesSmall, "like .shares, with blocks of 64 threads", SPTILE_BUILT(shares_small_kernels)),
    named_row(kCsrSharesFew, "like .shares, with 4 rows of B in flight instead of 8",
              SPTILE_BUILT(shares_few_kernels)),
    named_row(kCsrShares256, "like .shares, with slices of 256 bytes", SPTILE_BUILT(shares_256_kernels)),
    named_row(kCsrShares512, "like .shares, with slices of 512 bytes", SPTILE_BUILT(shares_512_kernels)),
#endif
    named_row(kCsrShares, "equal numbers of nonzeros per group of lanes, one cache line of B at a time",
              SPTILE_BUILT(shares_kernels)),
    named_row(kCsrScan, "for n = 1: equal numbers of nonzeros per warp, rows summed by segmented scans",
              SPTILE_BUILT(scan_kernels)),
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
}  // namespace

std::span<const Kernel> csr_rows() { return kRows; }

}  // namespace sptile::runtime::cuda
