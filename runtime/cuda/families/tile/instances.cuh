// Rows of the kernel table for one tile layout: every pair of types and precision.
#pragma once

#include <iterator>
#include <span>
#include <string_view>
#include <type_traits>

#include "runtime/cuda/families/tile/launch.cuh"

namespace sptile::runtime::cuda {

/// One row of the table: a kernel for operands of any alignment, then kernels that move whole pieces, by
/// features of a warp.
template <class Scalar, class... Vector>
struct TileInstance {
  static constexpr TileVariant kVariants[sizeof...(Vector)] = {
      {Vector::kFeatures, Vector::kElements, Vector::kWarpsPerSm, Vector::kLeastTiles}...};
  static constexpr std::int64_t kSize = sizeof(typename Scalar::Dense);

  /// Blocks of a variant that fit on a multiprocessor.
  static int blocks_per_sm(int variant, int threads) {
    static constexpr int (*kAsk[])(int) = {cuda::blocks_per_sm<tile_product<Vector>>...};
    return kAsk[variant](threads);
  }

  /// `beside` as in TileRequest.
  static TileRequest tiles_of(const ScheduleRequest& request, std::int64_t beside = 0) {
    return {request.format, request.n, kSize, {kVariants, sizeof...(Vector)}, request.device, beside};
  }
  static TileHeader append(Schedule& schedule, const ScheduleRequest& request, std::int64_t beside = 0) {
    return append_tiles(schedule, tiles_of(request, beside));
  }
  /// Reads back what `append` appended.
  static TileHeader read(ScheduleReader& reader, Schedule& schedule, const ScheduleRequest& request,
                         std::int64_t beside = 0) {
    return read_tiles(reader, schedule, tiles_of(request, beside));
  }

  /// `overlapped`: see TileTask.
  static int start(const TileHeader& header, const Launch& launch, cudaStream_t stream,
                   bool overlapped = false) {
    static constexpr TileStart kStarts[] = {start_tiles<Vector>...};
    TileTask task = tile_task(header, launch);
    task.overlapped = overlapped;
    const auto variant = static_cast<std::size_t>(header.variant);
    const bool whole =
        aligned<typename Scalar::Dense, typename Scalar::Result>(launch, kVariants[variant].elements);
    return (whole ? kStarts[variant] : start_tiles<Scalar>)(task, short_task(header, launch), header, launch,
                                                            stream);
  }

  static std::int64_t least_n(const TileHeader& header, std::int64_t n) {
    return tile_least_n({kVariants, sizeof...(Vector)}, header.variant, n);
  }

  static Schedule schedule(const ScheduleRequest& request) {
    Schedule schedule;
    schedule.header.set(append(schedule, request));
    return schedule;
  }
  static std::int64_t least_n(const ScheduleHeader& header, std::int64_t n) {
    return least_n(header.as<TileHeader>(), n);
  }
  static int launch(const Launch& launch, void* stream) noexcept {
    return start(launch.header->as<TileHeader>(), launch, static_cast<cudaStream_t>(stream));
  }

  static std::vector<std::int64_t> numbers(const ScheduleHeader& header) {
    return tile_numbers(header.as<TileHeader>());
  }
  static Result<Schedule> restore(const ScheduleRequest& request, const StoredSchedule& stored) {
    return restore_schedule(
        stored, [&](ScheduleReader& reader, Schedule& schedule) { return read(reader, schedule, request); });
  }
  static constexpr ScheduleStore kStore = {kTileVersion, numbers, restore};
};

/// Kernels of a layout whose loads wait in registers. `T` has the registers that a thread of each may have:
/// as many as keep its loop out of local memory (ptxas -v; sm_90).
template <class SourceT, class T>
struct DirectFamily {
  using Source = SourceT;
  template <class V, class Math>
  using Single = DirectKernel<Source, V, Math, 1, false, T::kSingle>;
  template <class V, class Math, int kSegments, int kRegisters>
  using Whole = DirectKernel<Source, V, Math, kSegments, true, kRegisters>;

  template <class V, bool kSplit>
  using F32 = TileInstance<Single<V, MathF32<kSplit>>, Whole<V, MathF32<kSplit>, 1, T::kF32x1>,
                           Whole<V, MathF32<kSplit>, 2, T::kF32x2>>;
  /// Results in f32: as few kernels as serve all operands.
  template <class V, class D>
  using F16ToF32 =
      TileInstance<Single<V, MathHalf<D, 4, float>>, Whole<V, MathHalf<D, 8, float>, 1, T::kF16x1>>;
  template <class V, class D>
  using F16 = TileInstance<Single<V, MathHalf<D, 4>>, Whole<V, MathHalf<D, 4>, 1, T::kF32x1>,
                           Whole<V, MathHalf<D, 8>, 1, T::kF16x1>, Whole<V, MathHalf<D, 8>, 2, T::kF16x2>>;
  template <class V>
  using F64 =
      TileInstance<Single<V, MathF64>, Whole<V, MathF64, 1, T::kF64x1>, Whole<V, MathF64, 2, T::kF64x2>>;
};

/// As DirectFamily, for a layout whose kernels are seldom the fastest: all widths where the values have the
/// type of the operands, else one kernel for operands of any alignment and one for whole pieces.
template <class SourceT, class T>
struct RareFamily {
  using Direct = DirectFamily<SourceT, T>;
  template <class V, class Math, class WideMath, int kRegisters>
  using Pair = TileInstance<typename Direct::template Single<V, Math>,
                            typename Direct::template Whole<V, WideMath, 1, kRegisters>>;

  template <class V, bool kSplit>
  using F32 = std::conditional_t<std::is_same_v<V, float>, typename Direct::template F32<V, kSplit>,
                                 Pair<V, MathF32<kSplit>, MathF32<kSplit>, T::kF32x1>>;
  template <class V, class D>
  using F16 = std::conditional_t<std::is_same_v<V, D>, typename Direct::template F16<V, D>,
                                 Pair<V, MathHalf<D, 4>, MathHalf<D, 8>, T::kF16x1>>;
  template <class V, class D>
  using F16ToF32 = typename Direct::template F16ToF32<V, D>;
  template <class V>
  using F64 = Pair<V, MathF64, MathF64, T::kF64x1>;
};

/// Kernels whose loads wait in shared memory where there are columns enough. `T` has the warps of each that
/// should fit on a multiprocessor: more than are needed to keep its part of the L2 cache's bandwidth busy,
/// few enough to leave the first cache room.
template <class SourceT, class T>
struct StagedFamily {
  static constexpr int kStages = 3;
  using Direct = DirectFamily<SourceT, T>;
  template <class V, class Math, int kSegments, int kWarps>
  using Whole = StagedKernel<SourceT, V, Math, kSegments, kWarps, kStages>;

  template <class V, bool kSplit>
  using F32 = TileInstance<typename Direct::template Single<V, MathF32<kSplit>>,
                           typename Direct::template Whole<V, MathF32<kSplit>, 1, T::kF32x1>,
                           Whole<V, MathF32<kSplit>, 2, T::kStagedWarps>,
                           Whole<V, MathF32<kSplit>, T::kWidestF32, T::kWidestWarps>>;
  template <class V, class D>
  using F16 = TileInstance<typename Direct::template Single<V, MathHalf<D, 4>>,
                           typename Direct::template Whole<V, MathHalf<D, 4>, 1, T::kF32x1>,
                           Whole<V, MathHalf<D, 8>, 1, T::kStagedWarps>,
                           Whole<V, MathHalf<D, 8>, 2, T::kWidestWarps>>;
  template <class V, class D, class Math = MathHalf<D, 8, float>>
  using F16ToF32 =
      std::conditional_t<std::is_same_v<V, D>,
                         TileInstance<typename Direct::template Single<V, MathHalf<D, 4, float>>,
                                      Whole<V, Math, 1, T::kStagedWarps>, Whole<V, Math, 2, T::kWidestWarps>>,
                         TileInstance<typename Direct::template Single<V, MathHalf<D, 4, float>>,
                                      Whole<V, Math, 1, T::kStagedWarps>>>;
  template <class V>
  using F64 = typename Direct::template F64<V>;
};

template <class Instance>
constexpr DeviceKernel instance_row(std::string_view kernel, DType values, DType dense, Precision precision,
                                    DType result = DType::none) {
  return {.kernel = kernel,
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

/// All instances of a kernel of a family.
template <const std::string_view& kKernel, class Family>
std::span<const DeviceKernel> instances() {
  static constexpr DeviceKernel kRows[] = {
      instance_row<typename Family::template F32<float, false>>(kKernel, DType::f32, DType::f32,
                                                                Precision::tf32),
      instance_row<typename Family::template F32<float, true>>(kKernel, DType::f32, DType::f32,
                                                               Precision::fp32),
      instance_row<typename Family::template F32<Half, false>>(kKernel, DType::f16, DType::f32,
                                                               Precision::tf32),
      instance_row<typename Family::template F32<Half, true>>(kKernel, DType::f16, DType::f32,
                                                              Precision::fp32),
      instance_row<typename Family::template F32<BFloat16, false>>(kKernel, DType::bf16, DType::f32,
                                                                   Precision::tf32),
      instance_row<typename Family::template F32<BFloat16, true>>(kKernel, DType::bf16, DType::f32,
                                                                  Precision::fp32),
      instance_row<typename Family::template F32<Ones, false>>(kKernel, DType::none, DType::f32,
                                                               Precision::tf32),
      instance_row<typename Family::template F32<Ones, true>>(kKernel, DType::none, DType::f32,
                                                              Precision::fp32),
      instance_row<typename Family::template F16<Half, Half>>(kKernel, DType::f16, DType::f16,
                                                              Precision::fp16),
      instance_row<typename Family::template F16<BFloat16, BFloat16>>(kKernel, DType::bf16, DType::bf16,
                                                                      Precision::bf16),
      instance_row<typename Family::template F16<Ones, Half>>(kKernel, DType::none, DType::f16,
                                                              Precision::fp16),
      instance_row<typename Family::template F16<Ones, BFloat16>>(kKernel, DType::none, DType::bf16,
                                                                  Precision::bf16),
      instance_row<typename Family::template F16ToF32<Half, Half>>(kKernel, DType::f16, DType::f16,
                                                                   Precision::fp16, DType::f32),
      instance_row<typename Family::template F16ToF32<BFloat16, BFloat16>>(kKernel, DType::bf16, DType::bf16,
                                                                           Precision::bf16, DType::f32),
      instance_row<typename Family::template F16ToF32<Ones, Half>>(kKernel, DType::none, DType::f16,
                                                                   Precision::fp16, DType::f32),
      instance_row<typename Family::template F16ToF32<Ones, BFloat16>>(kKernel, DType::none, DType::bf16,
                                                                       Precision::bf16, DType::f32),
      instance_row<typename Family::template F64<double>>(kKernel, DType::f64, DType::f64, Precision::fp64),
      instance_row<typename Family::template F64<Ones>>(kKernel, DType::none, DType::f64, Precision::fp64),
  };
  return {kRows, std::size(kRows)};
}

}  // namespace sptile::runtime::cuda
