#include "runtime/kernels.hpp"

#include "runtime/cuda/backend.hpp"
#include "runtime/spmm/isa.hpp"

namespace sptile::runtime {
namespace {

constexpr std::string_view kCsrSummary = "rows with the sums of up to 8 vectors of columns in registers";
constexpr std::string_view kCudaCsrSummary = "balanced runs of rows on CUDA cores, long rows in pieces";
constexpr std::string_view kCudaTileSummary =
    "tiles on tensor cores, balanced runs of windows, long ones in pieces";
constexpr std::string_view kCudaStagedSummary =
    "the same, with rows of B, values and masks staged in shared memory by asynchronous copies";
constexpr std::string_view kCudaTallSummary =
    "windows of up to 128 rows, the rows of B of their columns staged in shared memory";
constexpr std::string_view kCudaBulkSummary =
    "16x8 tiles on tensor cores, rows of B by bulk copies, persistent balanced blocks";
constexpr std::string_view kCudaHybridSummary = "tiles on tensor cores, residual rows on CUDA cores";
constexpr std::string_view kCudaLibraSummary =
    "tiles on tensor cores, then the residual rows on CUDA cores, added to what is there";
constexpr std::string_view kCudaStreamsSummary =
    "the same, balanced and scheduled as in Libra: segments added by atomics, on one stream or two";
constexpr std::string_view kCudaSequentialSummary = "the same, always on one stream";
constexpr std::string_view kCudaConcurrentSummary = "the same, always on two streams";
constexpr std::string_view kCudaUncutSummary =
    "the same, on one stream or two, without cutting windows or rows";
constexpr std::string_view kLibraSummary = "tile rows decoded into short rows, then the residual rows";
constexpr std::string_view kCudaRowSampleSummary = "dot products on CUDA cores, balanced runs of entries";
constexpr std::string_view kCudaTileSampleSummary =
    "dot products of tiles on tensor cores, results placed by their masks";
constexpr std::string_view kCudaHybridSampleSummary =
    "dot products of tiles on tensor cores, of the other entries on CUDA cores";
constexpr std::string_view kTileSummary = "tile rows decoded into short rows, then multiplied as csr";

/// Worst first: find_kernel takes the last available row of a combination.
constexpr Kernel kKernels[] = {
    {"cpu.csr.generic", "spmm", "csr", Device::cpu, "generic", true, kCsrSummary},
    {"cpu.me_tcf.generic", "spmm", "me_tcf", Device::cpu, "generic", true, kTileSummary},
    {"cpu.bittcf.generic", "spmm", "bittcf", Device::cpu, "generic", true, kTileSummary},
    {"cpu.bmat.generic", "spmm", "bmat", Device::cpu, "generic", true, kTileSummary},
    {"cpu.rs_tile.generic", "spmm", "rs_tile", Device::cpu, "generic", true, kTileSummary},
    {"cpu.tall.generic", "spmm", "tall", Device::cpu, "generic", true, kTileSummary},
    {"cpu.libra_spmm.generic", "spmm", "libra_spmm", Device::cpu, "generic", true, kLibraSummary},
    {"cpu.libra_sddmm.generic", "spmm", "libra_sddmm", Device::cpu, "generic", true, kLibraSummary},
#if defined(__x86_64__)
    {"cpu.csr.avx2", "spmm", "csr", Device::cpu, "avx2", true, kCsrSummary},
    {"cpu.me_tcf.avx2", "spmm", "me_tcf", Device::cpu, "avx2", true, kTileSummary},
    {"cpu.bittcf.avx2", "spmm", "bittcf", Device::cpu, "avx2", true, kTileSummary},
    {"cpu.bmat.avx2", "spmm", "bmat", Device::cpu, "avx2", true, kTileSummary},
    {"cpu.rs_tile.avx2", "spmm", "rs_tile", Device::cpu, "avx2", true, kTileSummary},
    {"cpu.tall.avx2", "spmm", "tall", Device::cpu, "avx2", true, kTileSummary},
    {"cpu.libra_spmm.avx2", "spmm", "libra_spmm", Device::cpu, "avx2", true, kLibraSummary},
    {"cpu.libra_sddmm.avx2", "spmm", "libra_sddmm", Device::cpu, "avx2", true, kLibraSummary},
    {"cpu.csr.avx512", "spmm", "csr", Device::cpu, "avx512", true, kCsrSummary},
    {"cpu.me_tcf.avx512", "spmm", "me_tcf", Device::cpu, "avx512", true, kTileSummary},
    {"cpu.bittcf.avx512", "spmm", "bittcf", Device::cpu, "avx512", true, kTileSummary},
    {"cpu.bmat.avx512", "spmm", "bmat", Device::cpu, "avx512", true, kTileSummary},
    {"cpu.rs_tile.avx512", "spmm", "rs_tile", Device::cpu, "avx512", true, kTileSummary},
    {"cpu.tall.avx512", "spmm", "tall", Device::cpu, "avx512", true, kTileSummary},
    {"cpu.libra_spmm.avx512", "spmm", "libra_spmm", Device::cpu, "avx512", true, kLibraSummary},
    {"cpu.libra_sddmm.avx512", "spmm", "libra_sddmm", Device::cpu, "avx512", true, kLibraSummary},
#endif
    {"cuda.csr.rows", "spmm", "csr", Device::cuda, "sm_80", true, kCudaCsrSummary},
    {"cuda.me_tcf.mma", "spmm", "me_tcf", Device::cuda, "sm_80", true, kCudaTileSummary},
    {"cuda.bmat.bulk", "spmm", "bmat", Device::cuda, "sm_90", true, kCudaBulkSummary},
    {"cuda.bmat.mma", "spmm", "bmat", Device::cuda, "sm_80", true, kCudaTileSummary},
    {"cuda.bmat.staged", "spmm", "bmat", Device::cuda, "sm_80", true, kCudaStagedSummary},
    {"cuda.bittcf.mma", "spmm", "bittcf", Device::cuda, "sm_80", true, kCudaTileSummary},
    {"cuda.bittcf.staged", "spmm", "bittcf", Device::cuda, "sm_80", true, kCudaStagedSummary},
    {"cuda.rs_tile.mma", "spmm", "rs_tile", Device::cuda, "sm_80", true, kCudaHybridSummary},
    {"cuda.libra_spmm.uncut", "spmm", "libra_spmm", Device::cuda, "sm_80", false, kCudaUncutSummary},
    {"cuda.libra_spmm.concurrent", "spmm", "libra_spmm", Device::cuda, "sm_80", false,
     kCudaConcurrentSummary},
    {"cuda.libra_spmm.sequential", "spmm", "libra_spmm", Device::cuda, "sm_80", false,
     kCudaSequentialSummary},
    {"cuda.libra_spmm.streams", "spmm", "libra_spmm", Device::cuda, "sm_80", false, kCudaStreamsSummary},
    {"cuda.libra_sddmm.mma", "spmm", "libra_sddmm", Device::cuda, "sm_80", true, kCudaLibraSummary},
    {"cuda.libra_spmm.mma", "spmm", "libra_spmm", Device::cuda, "sm_80", true, kCudaLibraSummary},
    {"cuda.tall.staged", "spmm", "tall", Device::cuda, "sm_80", true, kCudaTallSummary},
    {"cuda.csr.sddmm", "sddmm", "csr", Device::cuda, "sm_80", true, kCudaRowSampleSummary},
    {"cuda.bittcf.sddmm", "sddmm", "bittcf", Device::cuda, "sm_80", true, kCudaTileSampleSummary},
    {"cuda.rs_tile.sddmm", "sddmm", "rs_tile", Device::cuda, "sm_80", true, kCudaHybridSampleSummary},
    {"cuda.libra_spmm.sddmm", "sddmm", "libra_spmm", Device::cuda, "sm_80", true, kCudaHybridSampleSummary},
    {"cuda.me_tcf.sddmm", "sddmm", "me_tcf", Device::cuda, "sm_80", true, kCudaTileSampleSummary},
    {"cuda.bmat.sddmm", "sddmm", "bmat", Device::cuda, "sm_80", true, kCudaTileSampleSummary},
};

/// True when some device is new enough for some instance of a CUDA kernel.
bool runs_on_a_device(const Kernel& kernel) {
  for (int ordinal = 0; ordinal < cuda::device_count(); ++ordinal) {
    const Result<cuda::DeviceInfo> device = cuda::find_device(ordinal);
    for (const cuda::DeviceKernel& row : cuda::device_kernels())
      if (device && row.kernel == kernel.name && row.capability <= device->capability) return true;
  }
  return false;
}

}  // namespace

std::span<const Kernel> kernels() { return kKernels; }

bool is_wanted(const Kernel& kernel, std::string_view name) {
  return name.empty() ? kernel.deterministic : kernel.name == name;
}

bool available(const Kernel& kernel) {
  if (kernel.device == Device::cuda) return runs_on_a_device(kernel);
  const Isa* isa = find_isa(kernel.isa);
  return isa != nullptr && isa->available();
}

const Kernel* find_kernel(std::string_view op, std::string_view format, Device device,
                          std::string_view name) {
  const Kernel* best = nullptr;
  for (const Kernel& kernel : kKernels)
    if (kernel.op == op && kernel.format == format && kernel.device == device && is_wanted(kernel, name) &&
        available(kernel))
      best = &kernel;
  return best;
}

}  // namespace sptile::runtime
