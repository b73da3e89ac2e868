#include "runtime/cuda/families/sddmm/launch.cuh"
#include "runtime/cuda/families/sddmm/sddmm.hpp"

namespace sptile::runtime::cuda {
namespace {

template <class Math>
constexpr auto launch_csr =
    launch_sddmm<Math, sddmm_rows<EntryShape<Math, 8, 1, false>, kSddmmPolicy<Math, 0>.narrow_registers>,
                 sddmm_rows<EntryShape<Math, kSddmmPolicy<Math, 0>.narrow_lanes, 1, true>,
                            kSddmmPolicy<Math, 0>.narrow_registers>,
                 sddmm_rows<EntryShape<Math, 8, 2, true>, kSddmmPolicy<Math, 0>.wide_registers>>;

/// Results in f32: the fewest kernels that support all operands.
template <class D, class Math = MathHalf<D, 8, float>,
          auto kWhole = sddmm_rows<EntryShape<Math, 8, 2, true>, kSddmmPolicy<Math, 0>.wide_registers>>
constexpr auto launch_csr_to_f32 =
    launch_sddmm<Math, sddmm_rows<EntryShape<Math, 8, 1, false>, kSddmmPolicy<Math, 0>.narrow_registers>,
                 kWhole, kWhole>;

constexpr DeviceKernel kRows[] = {
    sddmm_instance<DType::f32, 0>(kCsrSddmm, Precision::fp32, launch_csr<MathF32<false>>),
    sddmm_instance<DType::f16, 0>(kCsrSddmm, Precision::fp16, launch_csr<MathHalf<Half, 8>>),
    sddmm_instance<DType::bf16, 0>(kCsrSddmm, Precision::bf16, launch_csr<MathHalf<BFloat16, 8>>),
    sddmm_instance<DType::f16, 0>(kCsrSddmm, Precision::fp16, launch_csr_to_f32<Half>, DType::f32),
    sddmm_instance<DType::bf16, 0>(kCsrSddmm, Precision::bf16, launch_csr_to_f32<BFloat16>, DType::f32),
    sddmm_instance<DType::f64, 0>(kCsrSddmm, Precision::fp64, launch_csr<MathF64>)};

}  // namespace

std::span<const DeviceKernel> csr_sddmm_kernels() { return kRows; }

SddmmLaunch sddmm_rows_launch(const DenseTypes& types) {
  for (const DeviceKernel& row : kRows)
    if (types_of(row) == types) return row.launch;
  return [](const Launch&, void*) noexcept -> int { return cudaErrorInvalidValue; };
}

}  // namespace sptile::runtime::cuda
