#include "runtime/cuda/families/sddmm/launch.cuh"
#include "runtime/cuda/families/sddmm/sddmm.hpp"

namespace sptile::runtime::cuda {
namespace {

/// Lanes that load a row of few features, pieces of a lane of a row of many; registers of a thread.
template <class Math, int kNarrowLanes, int kWideSteps, int kNarrow, int kWide>
constexpr auto launch_csr = launch_sddmm<Math, sddmm_rows<EntryShape<Math, 8, 1, false>, kNarrow>,
                                         sddmm_rows<EntryShape<Math, kNarrowLanes, 1, true>, kNarrow>,
                                         sddmm_rows<EntryShape<Math, 8, kWideSteps, true>, kWide>>;

/// Results in f32: as few kernels as serve all operands.
template <class D, class Math = MathHalf<D, 8, float>,
          auto kWhole = sddmm_rows<EntryShape<Math, 8, 2, true>, 96>>
constexpr auto launch_csr_to_f32 =
    launch_sddmm<Math, sddmm_rows<EntryShape<Math, 8, 1, false>, 72>, kWhole, kWhole>;

constexpr DeviceKernel kRows[] = {
    sddmm_instance(kCsrSddmm, DType::f32, Precision::fp32, launch_csr<MathF32<false>, 8, 2, 72, 96>),
    sddmm_instance(kCsrSddmm, DType::f16, Precision::fp16, launch_csr<MathHalf<Half, 8>, 4, 2, 72, 96>),
    sddmm_instance(kCsrSddmm, DType::bf16, Precision::bf16, launch_csr<MathHalf<BFloat16, 8>, 4, 2, 72, 96>),
    sddmm_instance(kCsrSddmm, DType::f16, Precision::fp16, launch_csr_to_f32<Half>, DType::f32),
    sddmm_instance(kCsrSddmm, DType::bf16, Precision::bf16, launch_csr_to_f32<BFloat16>, DType::f32),
    sddmm_instance(kCsrSddmm, DType::f64, Precision::fp64, launch_csr<MathF64, 8, 2, 96, 112>)};

}  // namespace

std::span<const DeviceKernel> csr_sddmm_kernels() { return kRows; }

SddmmLaunch sddmm_rows_launch(const DenseTypes& types) {
  for (const DeviceKernel& row : kRows)
    if (types_of(row) == types) return row.launch;
  return [](const Launch&, void*) noexcept -> int { return cudaErrorInvalidValue; };
}

}  // namespace sptile::runtime::cuda
