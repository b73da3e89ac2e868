#include <iterator>
#include <string>
#include <tuple>

#include "runtime/cuda/families/tall/launch.cuh"
#include "runtime/cuda/families/tall/tall.hpp"

namespace sptile::runtime::cuda {
namespace {

/// Checks the columns: a block multiplies slices of a fixed number of columns even if B has fewer.
template <int kMin>
Status check_wide(const ServiceRequest& request) {
  if (request.n >= kMin) return {};
  return fail(Errc::unsupported, std::string(kTallWgmma) + " requires at least " + std::to_string(kMin) +
                                     " columns, got " + std::to_string(request.n) + "; use " +
                                     std::string(kTallStaged));
}

// Windows of up to 64 rows, and of up to 128.
using Dense32 = TallInstance<4, 4, TallDenseKernel<MathF32<false>, 8>, TallDenseKernel<MathF32<false>, 16>>;

// Windows of up to 64 rows with slices of 64, 128 and 256 columns, and of up to 128 rows with slices of 64
// and 128.
template <class Math>
using Dense16 =
    TallInstance<1, 4, TallUprightKernel<Math, 1, 1>, TallUprightKernel<Math, 1, 2>,
                 TallUprightKernel<Math, 1, 4>, TallUprightKernel<Math, 2, 1>, TallUprightKernel<Math, 2, 2>>;
// Results in f32 have the widest slices only.
template <class Math>
using Dense16ToF32 = TallInstance<4, 4, TallUprightKernel<Math, 1, 4>, TallUprightKernel<Math, 2, 2>>;

template <class Instance, class D, int kMinColumns>
constexpr DeviceKernel wgmma_row(DType values, Precision precision, DType result = DType::none) {
  return {.kernel = kTallWgmma,
          .values = values,
          .dense = kDTypeOf<D>,
          .precision = precision,
          .capability = 90,
          .ieee = false,
          .schedule = Instance::schedule,
          .launch = Instance::launch,
          .least_n = Instance::least_n,
          .result = result,
          .store = &Instance::kStore,
          .check = check_wide<kMinColumns>,
          .last_capability = 90,
          .policy = Instance::policy};
}

constexpr DeviceKernel f32_row(DType values) {
  return wgmma_row<Dense32, float, kTallPolicy.min_dense_columns>(values, Precision::tf32);
}
template <class D>
constexpr DeviceKernel half_row(DType values) {
  return wgmma_row<Dense16<MathHalf<D, 8>>, D, kTallPolicy.min_dense_half_columns>(
      values, std::is_same_v<D, Half> ? Precision::fp16 : Precision::bf16);
}
template <class D>
constexpr DeviceKernel half_to_f32_row(DType values) {
  return wgmma_row<Dense16ToF32<MathHalf<D, 8, float>>, D, kTallPolicy.min_dense_columns>(
      values, std::is_same_v<D, Half> ? Precision::fp16 : Precision::bf16, DType::f32);
}

constexpr DeviceKernel kWgmmaRows[] = {f32_row(DType::f32),
                                       f32_row(DType::none),
                                       half_row<Half>(DType::f16),
                                       half_row<Half>(DType::none),
                                       half_to_f32_row<Half>(DType::f16),
                                       half_to_f32_row<Half>(DType::none),
                                       half_row<BFloat16>(DType::bf16),
                                       half_row<BFloat16>(DType::none),
                                       half_to_f32_row<BFloat16>(DType::bf16),
                                       half_to_f32_row<BFloat16>(DType::none)};

}  // namespace

std::span<const DeviceKernel> tall_wgmma_kernels() { return {kWgmmaRows, std::size(kWgmmaRows)}; }

}  // namespace sptile::runtime::cuda
