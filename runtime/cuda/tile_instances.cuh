// Rows of the kernel table for one tile layout: every pair of types and precision.
#pragma once

#include <iterator>
#include <span>
#include <string_view>

#include "runtime/cuda/tile_launch.cuh"

namespace sptile::runtime::cuda {

/// One row: a kernel for operands of any alignment, then kernels that move whole pieces, by features of a
/// warp. `Layout` has schedule() and bind() of the format.
template <class Layout, class Scalar, class... Vector>
struct TileInstance {
  static constexpr TileVariant kVariants[sizeof...(Vector)] = {
      {Vector::kFeatures, Vector::kElements, 4 * Vector::kBlocks}...};

  static Schedule schedule(const formats::FormatView& host, std::span<const std::int32_t>, std::int64_t n,
                           const DeviceInfo& device) {
    return Layout::schedule(host, n, sizeof(typename Scalar::Dense), {kVariants, sizeof...(Vector)}, device);
  }

  static int launch(const Launch& launch, void* stream) noexcept {
    static constexpr TileStart kStarts[] = {start_tiles<Vector>...};
    constexpr std::int64_t kSize = sizeof(typename Scalar::Dense);
    TileTask task = common_task(launch);
    ShortTask part{};
    Layout::bind(launch, task, part);
    const auto variant = static_cast<std::size_t>(launch.host->numbers[kVariant]);
    const bool whole = aligned(launch, kSize, kSize * kVariants[variant].elements);
    return (whole ? kStarts[variant] : start_tiles<Scalar>)(task, part, launch,
                                                            static_cast<cudaStream_t>(stream));
  }
};

/// Shapes of kernels: segments of a warp, and blocks of 4 warps for which the compiler must leave registers.
template <class Source, class V, class Math, int kSegments, int kBlocks>
using WholePieces = TileKernel<Source, V, Math, kSegments, true, kBlocks>;
template <class Source, class V, class Math, int kBlocks>
using SinglePieces = TileKernel<Source, V, Math, 1, false, kBlocks>;

/// All rows of a layout. `T` has the numbers of blocks that fit (its kernels' registers decide).
template <class Layout, class T>
struct TileRows {
  using Source = typename Layout::Source;

  template <class V, bool kSplit>
  using F32 = TileInstance<Layout, SinglePieces<Source, V, MathF32<kSplit>, T::kSingle>,
                           WholePieces<Source, V, MathF32<kSplit>, 1, T::kF32x1>,
                           WholePieces<Source, V, MathF32<kSplit>, 2, T::kF32x2>>;
  template <class V, class D>
  using F16 = TileInstance<Layout, SinglePieces<Source, V, MathHalf<D, 4>, T::kSingle>,
                           WholePieces<Source, V, MathHalf<D, 4>, 1, T::kF32x1>,
                           WholePieces<Source, V, MathHalf<D, 8>, 1, T::kF16x1>,
                           WholePieces<Source, V, MathHalf<D, 8>, 2, T::kF16x2>>;
  template <class V>
  using F64 = TileInstance<Layout, SinglePieces<Source, V, MathF64, T::kSingle>,
                           WholePieces<Source, V, MathF64, 1, T::kF64x1>,
                           WholePieces<Source, V, MathF64, 2, T::kF64x2>>;

  template <class Instance>
  static constexpr SpmmKernel row(DType values, DType dense, Precision precision) {
    return {Layout::kKernel, values, dense, precision, 80, false, Instance::schedule, Instance::launch};
  }

  static std::span<const SpmmKernel> rows() {
    static constexpr SpmmKernel kRows[] = {
        row<F32<float, false>>(DType::f32, DType::f32, Precision::tf32),
        row<F32<float, true>>(DType::f32, DType::f32, Precision::fp32),
        row<F32<Half, false>>(DType::f16, DType::f32, Precision::tf32),
        row<F32<Half, true>>(DType::f16, DType::f32, Precision::fp32),
        row<F32<BFloat16, false>>(DType::bf16, DType::f32, Precision::tf32),
        row<F32<BFloat16, true>>(DType::bf16, DType::f32, Precision::fp32),
        row<F32<Ones, false>>(DType::none, DType::f32, Precision::tf32),
        row<F32<Ones, true>>(DType::none, DType::f32, Precision::fp32),
        row<F16<Half, Half>>(DType::f16, DType::f16, Precision::fp16),
        row<F16<BFloat16, BFloat16>>(DType::bf16, DType::bf16, Precision::bf16),
        row<F16<Ones, Half>>(DType::none, DType::f16, Precision::fp16),
        row<F16<Ones, BFloat16>>(DType::none, DType::bf16, Precision::bf16),
        row<F64<double>>(DType::f64, DType::f64, Precision::fp64),
        row<F64<Ones>>(DType::none, DType::f64, Precision::fp64),
    };
    return {kRows, std::size(kRows)};
  }
};

}  // namespace sptile::runtime::cuda
