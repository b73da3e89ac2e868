#include "runtime/cuda/families/tall/tall.hpp"

#include <iterator>
#include <tuple>

#include "runtime/cuda/families/tall/launch.cuh"

namespace sptile::runtime::cuda {
namespace {

// Sub-windows, segments, warps per block, blocks per multiprocessor (as registers permit; ptxas -v, sm_90).
template <class V, class Math>
using F32 = TallInstance<1, 4, TallKernel<V, Math, 1, 1, 16, 1>, TallKernel<V, Math, 1, 1, 8, 3>,
                         TallKernel<V, Math, 1, 2, 16, 1>, TallKernel<V, Math, 1, 2, 8, 2>,
                         TallKernel<V, Math, 1, 4, 8, 2>, TallKernel<V, Math, 2, 4, 8, 1>>;
template <class V, class D>
using F16 =
    TallInstance<1, 2, TallKernel<V, MathHalf<D, 8>, 1, 1, 16, 1>, TallKernel<V, MathHalf<D, 8>, 1, 1, 8, 2>,
                 TallKernel<V, MathHalf<D, 8>, 1, 2, 8, 2>, TallKernel<V, MathHalf<D, 8>, 2, 2, 8, 1>>;

// Rare pairs of types have the fewest kernels that support windows of every height.
template <class V, class Math>
using Rare32 = TallInstance<1, 2, TallKernel<V, Math, 1, 1, 16, 1>, TallKernel<V, Math, 1, 2, 16, 1>>;
template <class V, class D, class R = D>
using Rare16 = TallInstance<1, 2, TallKernel<V, MathHalf<D, 8, R>, 1, 1, 16, 1>,
                            TallKernel<V, MathHalf<D, 8, R>, 2, 2, 8, 1>>;

template <class Instance>
constexpr DeviceKernel row(DType values, DType dense, Precision precision, DType result = DType::none) {
  return {.kernel = kTallStaged,
          .values = values,
          .dense = dense,
          .precision = precision,
          .capability = 80,
          .ieee = false,
          .schedule = Instance::schedule,
          .launch = Instance::launch,
          .least_n = Instance::least_n,
          .result = result,
          .store = &Instance::kStore};
}

using Tf32 = MathF32<false>;
using Split = MathF32<true>;

constexpr DeviceKernel kRows[] = {
    row<F32<float, Tf32>>(DType::f32, DType::f32, Precision::tf32),
    row<F32<float, Split>>(DType::f32, DType::f32, Precision::fp32),
    row<Rare32<Half, Tf32>>(DType::f16, DType::f32, Precision::tf32),
    row<Rare32<Half, Split>>(DType::f16, DType::f32, Precision::fp32),
    row<Rare32<BFloat16, Tf32>>(DType::bf16, DType::f32, Precision::tf32),
    row<Rare32<BFloat16, Split>>(DType::bf16, DType::f32, Precision::fp32),
    row<Rare32<Ones, Tf32>>(DType::none, DType::f32, Precision::tf32),
    row<Rare32<Ones, Split>>(DType::none, DType::f32, Precision::fp32),
    row<F16<Half, Half>>(DType::f16, DType::f16, Precision::fp16),
    row<F16<BFloat16, BFloat16>>(DType::bf16, DType::bf16, Precision::bf16),
    row<Rare16<Ones, Half>>(DType::none, DType::f16, Precision::fp16),
    row<Rare16<Ones, BFloat16>>(DType::none, DType::bf16, Precision::bf16),
    row<Rare16<Half, Half, float>>(DType::f16, DType::f16, Precision::fp16, DType::f32),
    row<Rare16<BFloat16, BFloat16, float>>(DType::bf16, DType::bf16, Precision::bf16, DType::f32),
    row<Rare16<Ones, Half, float>>(DType::none, DType::f16, Precision::fp16, DType::f32),
    row<Rare16<Ones, BFloat16, float>>(DType::none, DType::bf16, Precision::bf16, DType::f32),
    row<Rare32<double, MathF64>>(DType::f64, DType::f64, Precision::fp64),
    row<Rare32<Ones, MathF64>>(DType::none, DType::f64, Precision::fp64),
};

}  // namespace

std::span<const DeviceKernel> tall_kernels() { return {kRows, std::size(kRows)}; }

}  // namespace sptile::runtime::cuda
