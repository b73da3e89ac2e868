#include "formats/layout/csr.hpp"
#include "runtime/cuda/sddmm/sddmm.hpp"
#include "runtime/cuda/sddmm/launch.cuh"

namespace sptile::runtime::cuda {
namespace {

struct CsrLayout {
  static void bind(const Launch& launch, SampleTask& task, std::int64_t element_bytes) {
    const formats::CsrView a = formats::as_csr(launch.format);
    EntryPart& part = task.entries;
    part.row_offset = a.row_ptr.data();
    part.columns = a.col_idx.data();
    part.entries = a.nnz();
    part.rows = static_cast<std::int32_t>(a.rows);
    part.results = results_of(launch, a.values, 0, element_bytes);
  }
};

/// Lanes that load a row of few features, pieces of a lane of a row of many; registers of a thread.
template <class Math, int kNarrowLanes, int kWideSteps, int kNarrow, int kWide>
constexpr auto launch_rows =
    launch_samples<CsrLayout, typename Math::Dense, sample_rows<EntryShape<Math, 8, 1, false>, kNarrow>,
                   sample_rows<EntryShape<Math, kNarrowLanes, 1, true>, kNarrow>,
                   sample_rows<EntryShape<Math, 8, kWideSteps, true>, kWide>>;

constexpr DeviceKernel row(DType dense, Precision precision, int (*launch)(const Launch&, void*) noexcept) {
  return {"cuda.csr.sddmm", DType::none, dense, precision, 80, true, sample_csr, launch, true};
}

constexpr DeviceKernel kRows[] = {
    row(DType::f32, Precision::fp32, launch_rows<MathF32<false>, 8, 2, 72, 96>),
    row(DType::f16, Precision::fp16, launch_rows<MathHalf<Half, 8>, 4, 2, 72, 96>),
    row(DType::bf16, Precision::bf16, launch_rows<MathHalf<BFloat16, 8>, 4, 2, 72, 96>),
    row(DType::f64, Precision::fp64, launch_rows<MathF64, 8, 2, 96, 112>)};

}  // namespace

std::span<const DeviceKernel> csr_sddmm_kernels() { return kRows; }

}  // namespace sptile::runtime::cuda
