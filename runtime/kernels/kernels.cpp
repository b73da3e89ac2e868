#include "runtime/kernels/kernels.hpp"

#include <algorithm>
#include <deque>
#include <iterator>
#include <string>
#include <vector>

#include "runtime/cuda/backend.hpp"
#include "runtime/cpu/isa.hpp"

namespace sptile::runtime {
namespace {

/// What the CPU does for an operation.
struct CpuSummary {
  std::string_view op, rows, tiles;
};
constexpr CpuSummary kCpuSummaries[] = {
    {"spmm", "rows with the sums of up to 8 vectors of columns in registers",
     "tile rows decoded into short rows, then multiplied as csr"},
    {"sddmm", "4 dot products at a time, entries of csr rows",
     "tile rows decoded into columns and positions, then as csr"},
};

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
constexpr std::string_view kCudaRowSampleSummary = "dot products on CUDA cores, balanced runs of entries";
constexpr std::string_view kCudaTileSampleSummary =
    "dot products of tiles on tensor cores, results placed by their masks";
constexpr std::string_view kCudaHybridSampleSummary =
    "dot products of tiles on tensor cores, of the other entries on CUDA cores";

constexpr Kernel kCudaKernels[] = {
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
    {"cuda.libra_sddmm.mma", "spmm", "libra_sddmm", Device::cuda, "sm_80", true, kCudaLibraSummary, 2},
    {"cuda.libra_spmm.mma", "spmm", "libra_spmm", Device::cuda, "sm_80", true, kCudaLibraSummary, 2},
    {"cuda.tall.staged", "spmm", "tall", Device::cuda, "sm_80", true, kCudaTallSummary},
    {"cuda.csr.sddmm", "sddmm", "csr", Device::cuda, "sm_80", true, kCudaRowSampleSummary},
    {"cuda.bittcf.sddmm", "sddmm", "bittcf", Device::cuda, "sm_80", true, kCudaTileSampleSummary},
    {"cuda.rs_tile.sddmm", "sddmm", "rs_tile", Device::cuda, "sm_80", true, kCudaHybridSampleSummary},
    {"cuda.libra_spmm.sddmm", "sddmm", "libra_spmm", Device::cuda, "sm_80", true, kCudaHybridSampleSummary},
    {"cuda.libra_sddmm.sddmm", "sddmm", "libra_sddmm", Device::cuda, "sm_80", true, kCudaHybridSampleSummary},
    {"cuda.me_tcf.sddmm", "sddmm", "me_tcf", Device::cuda, "sm_80", true, kCudaTileSampleSummary},
    {"cuda.bmat.sddmm", "sddmm", "bmat", Device::cuda, "sm_80", true, kCudaTileSampleSummary},
};

/// A kernel for each operation, format and instruction set that the CPU kernels are compiled for:
/// "cpu.bittcf.avx2", "cpu.bittcf.sddmm.avx2".
std::vector<Kernel> cpu_kernels() {
  static std::deque<std::string> names;  // stays where it is
  std::vector<Kernel> found;
  for (const Isa& isa : isas()) {
    const CpuKernels rows = isa.kernels();
    for (int i = 0; i < rows.count; ++i) {
      const CpuKernel& row = rows.rows[i];
      if (i > 0 && row.op == rows.rows[i - 1].op && row.format == rows.rows[i - 1].format) continue;
      names.push_back("cpu." + std::string(row.format) + (row.op == "spmm" ? "" : "." + std::string(row.op)) +
                      "." + std::string(isa.name));
      const auto* summary = std::find_if(std::begin(kCpuSummaries), std::end(kCpuSummaries),
                                         [&](const CpuSummary& s) { return s.op == row.op; });
      found.push_back({names.back(), row.op, row.format, Device::cpu, isa.name, true,
                       row.format == "csr" ? summary->rows : summary->tiles});
    }
  }
  return found;
}

/// Worst first: find_kernel takes the last available row of a combination.
const std::vector<Kernel>& all_kernels() {
  static const std::vector<Kernel> all = [] {
    std::vector<Kernel> rows = cpu_kernels();
    rows.insert(rows.end(), std::begin(kCudaKernels), std::end(kCudaKernels));
    return rows;
  }();
  return all;
}

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

std::span<const Kernel> kernels() { return all_kernels(); }

bool is_wanted(const Kernel& kernel, std::string_view name) {
  return name.empty() ? kernel.deterministic : kernel.name == name;
}

bool is_for(const Kernel& kernel, std::string_view op, std::string_view format, Device device,
            std::string_view name) {
  return kernel.op == op && kernel.format == format && kernel.device == device && is_wanted(kernel, name);
}

bool available(const Kernel& kernel) {
  if (kernel.device == Device::cuda) return runs_on_a_device(kernel);
  const Isa* isa = find_isa(kernel.isa);
  return isa != nullptr && isa->available();
}

const Kernel* best_kernel(std::string_view op, std::string_view format, Device device) {
  const auto is_one = [&](const Kernel& kernel) { return is_for(kernel, op, format, device, {}); };
  const std::vector<Kernel>& all = all_kernels();
  const auto last = std::find_if(all.rbegin(), all.rend(), is_one);
  return last == all.rend() ? nullptr : &*last;
}

const Kernel* find_kernel(std::string_view op, std::string_view format, Device device,
                          std::string_view name) {
  const Kernel* best = nullptr;
  for (const Kernel& kernel : all_kernels())
    if (is_for(kernel, op, format, device, name) && available(kernel)) best = &kernel;
  return best;
}

}  // namespace sptile::runtime
