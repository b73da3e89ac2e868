// Families of instances for a tile layout.
#pragma once

#include <type_traits>

#include "runtime/cuda/families/tile/launch.cuh"

namespace sptile::runtime::cuda {

/// One row of the table: a kernel for operands of any alignment, then kernels for aligned operands, by
/// ascending features per warp.
template <class Scalar, class... Vector>
struct TileInstance
    : StoredInstance<TileInstance<Scalar, Vector...>, TileHeader, kTileVersion, tile_numbers> {
  static constexpr TileVariant kVariants[sizeof...(Vector)] = {
      {Vector::kFeatures, Vector::kElements, Vector::kWarpsPerSm, Vector::kMinTiles}...};
  static constexpr std::int64_t kSize = sizeof(typename Scalar::Dense);

  /// Returns the blocks of a variant that fit on a multiprocessor.
  static int blocks_per_sm(int variant, int threads) {
    static constexpr int (*kAsk[])(int) = {cuda::blocks_per_sm<tile_product<Vector>>...};
    return kAsk[variant](threads);
  }

  /// `other_cost` as in TileRequest.
  static TileRequest tiles_of(const ScheduleRequest& request, std::int64_t other_cost = 0) {
    return {request.format, request.n, kSize, {kVariants, sizeof...(Vector)}, request.device, other_cost};
  }
  static TileHeader append(Schedule& schedule, const ScheduleRequest& request, std::int64_t other_cost = 0) {
    return append_tiles(schedule, tiles_of(request, other_cost));
  }
  /// Reads what `append` appended.
  static TileHeader read(ScheduleReader& reader, Schedule& schedule, const ScheduleRequest& request,
                         std::int64_t other_cost = 0) {
    return read_tiles(reader, schedule, tiles_of(request, other_cost));
  }

  /// Starts the kernels; `overlapped`: see TileTask.
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

  static std::int64_t least_n(const ScheduleHeader& header, std::int64_t n) {
    return least_n(header.as<TileHeader>(), n);
  }
  static int launch(const Launch& launch, void* stream) noexcept {
    return start(launch.header->as<TileHeader>(), launch, static_cast<cudaStream_t>(stream));
  }
  static PolicyValues policy(int capability) {
    return policy_values(tile_policy_for(capability, kDTypeOf<typename Scalar::Dense>, 8 * Scalar::kHalves));
  }
};

/// Kernels of a layout whose loads in flight are in registers.
template <class Source>
struct DirectFamily {
  template <class V, class Math>
  using Single = DirectKernel<Source, V, Math, 1, false>;
  template <class V, class Math, int kSegments>
  using Whole = DirectKernel<Source, V, Math, kSegments, true>;

  template <class V, bool kSplit>
  using F32 =
      TileInstance<Single<V, MathF32<kSplit>>, Whole<V, MathF32<kSplit>, 1>, Whole<V, MathF32<kSplit>, 2>>;
  /// Results in f32: the fewest kernels that support all operands.
  template <class V, class D>
  using F16ToF32 = TileInstance<Single<V, MathHalf<D, 4, float>>, Whole<V, MathHalf<D, 8, float>, 1>>;
  template <class V, class D>
  using F16 = TileInstance<Single<V, MathHalf<D, 4>>, Whole<V, MathHalf<D, 4>, 1>,
                           Whole<V, MathHalf<D, 8>, 1>, Whole<V, MathHalf<D, 8>, 2>>;
  template <class V>
  using F64 = TileInstance<Single<V, MathF64>, Whole<V, MathF64, 1>, Whole<V, MathF64, 2>>;
};

/// DirectFamily for a layout whose kernels are rarely the fastest: all widths if values and operands have one
/// type, else one kernel for operands of any alignment and one for aligned operands.
template <class Source>
struct RareFamily {
  using Direct = DirectFamily<Source>;
  template <class V, class Math, class WideMath>
  using Pair = TileInstance<typename Direct::template Single<V, Math>,
                            typename Direct::template Whole<V, WideMath, 1>>;

  template <class V, bool kSplit>
  using F32 = std::conditional_t<std::is_same_v<V, float>, typename Direct::template F32<V, kSplit>,
                                 Pair<V, MathF32<kSplit>, MathF32<kSplit>>>;
  template <class V, class D>
  using F16 = std::conditional_t<std::is_same_v<V, D>, typename Direct::template F16<V, D>,
                                 Pair<V, MathHalf<D, 4>, MathHalf<D, 8>>>;
  template <class V, class D>
  using F16ToF32 = typename Direct::template F16ToF32<V, D>;
  template <class V>
  using F64 = Pair<V, MathF64, MathF64>;
};

/// Kernels whose loads in flight are in shared memory, for enough columns. kShortRows as in StagedKernel.
template <class Source, bool kShortRows = false>
struct StagedFamily {
  using Direct = DirectFamily<Source>;
  template <class V, class Math, int kSegments>
  using Narrow = StagedKernel<Source, V, Math, kSegments, kTilePolicy<Source, Math>.warps_per_sm,
                              kTilePolicy<Source, Math>.stages, kShortRows>;
  template <class V, class Math>
  using Wide =
      StagedKernel<Source, V, Math, kTilePolicy<Source, Math>.wide_segments,
                   kTilePolicy<Source, Math>.wide_warps_per_sm, kTilePolicy<Source, Math>.stages, kShortRows>;

  template <class V, bool kSplit>
  using F32 = TileInstance<typename Direct::template Single<V, MathF32<kSplit>>,
                           typename Direct::template Whole<V, MathF32<kSplit>, 1>,
                           Narrow<V, MathF32<kSplit>, 2>, Wide<V, MathF32<kSplit>>>;
  template <class V, class D>
  using F16 = TileInstance<typename Direct::template Single<V, MathHalf<D, 4>>,
                           typename Direct::template Whole<V, MathHalf<D, 4>, 1>,
                           Narrow<V, MathHalf<D, 8>, 1>, Wide<V, MathHalf<D, 8>>>;
  template <class V, class D, class Math = MathHalf<D, 8, float>>
  using F16ToF32 = std::conditional_t<
      std::is_same_v<V, D>,
      TileInstance<typename Direct::template Single<V, MathHalf<D, 4, float>>, Narrow<V, Math, 1>,
                   Wide<V, Math>>,
      TileInstance<typename Direct::template Single<V, MathHalf<D, 4, float>>, Narrow<V, Math, 1>>>;
  template <class V>
  using F64 = typename Direct::template F64<V>;
};

}  // namespace sptile::runtime::cuda
