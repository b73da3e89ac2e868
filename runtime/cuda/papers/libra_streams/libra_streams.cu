// SpMM of libra_spmm with Libra's balance and scheduling (sections 4.3 and 4.4): rows with atomic additions
// are set to beta * C first; then both parts run, on one stream or on two. The order of atomic additions
// varies, so the last bits of the sums differ between runs.
#include "runtime/cuda/papers/libra_streams/libra_streams.hpp"

#include <algorithm>
#include <memory>

#include "runtime/cuda/collective/csr_launch.cuh"
#include "runtime/cuda/families/tile/hybrid.cuh"
#include "runtime/cuda/papers/libra_streams/adding.cuh"
#include "runtime/cuda/papers/libra_streams/scale_rows.cuh"
#include "runtime/cuda/papers/libra_streams/schedule.hpp"
#include "runtime/cuda/papers/libra_streams/short_segments.cuh"
#include "runtime/cuda/papers/libra_streams/side_stream.hpp"

namespace sptile::runtime::cuda {
namespace {

template <class V, class Math, int kSegments, bool kWhole>
using AddingTile = AddingKernel<DirectKernel<Mask8, V, Math, kSegments, kWhole>>;

/// The precisions of the paper; sums and C are f32 in both, as in the paper. `V` is the type of values or
/// Ones. f32 operands, products in tf32.
template <class V>
struct StreamsTf32 {
  using RowElement = float;
  using RowTuning = CsrTuning<128, 4, 8>;
  using Math = MathF32<false>;
  using Tiles =
      TileInstance<AddingTile<V, Math, 1, false>, AddingTile<V, Math, 1, true>, AddingTile<V, Math, 2, true>>;
  static constexpr DType kValues = kDTypeOf<V>;
  static constexpr DType kType = DType::f32;
  static constexpr Precision kPrecision = Precision::tf32;
};

#ifdef SPTILE_ABLATIONS
/// Like StreamsTf32, but for 64 columns and more with column ids, masks, values and rows of B in shared
/// memory.
template <class V>
struct StagedTf32 : StreamsTf32<V> {
  using Math = MathF32<false>;
  using Staged =
      StagedKernel<Mask8, V, Math, 2, kTilePolicy<Mask8, Math>.warps_per_sm, kTilePolicy<Mask8, Math>.stages>;
  using Tiles = TileInstance<AddingTile<V, Math, 1, false>, AddingTile<V, Math, 1, true>,
                             AddingKernel<Staged, TileStaged>>;
};
#endif

constexpr int kBlockRegisters = 128;  // four tiles are in flight

template <class V, int kElements, bool kWhole>
using AddingBlock =
    AddingBlockKernel<DirectKernel<Mask8, V, MathBlock<kElements>, 1, kWhole, kBlockRegisters>>;

/// f16 operands, in blocks of 16 columns.
template <class V>
struct StreamsFp16 {
  using RowElement = __half;
  using RowTuning = CsrTuning<128, 4, 6>;
  using Tiles = TileInstance<AddingBlock<V, 4, false>, AddingBlock<V, 8, true>>;
  static constexpr DType kValues = kDTypeOf<V>;
  static constexpr DType kType = DType::f16;
  static constexpr Precision kPrecision = Precision::fp16;
};

/// Arguments of the kernels for rows. A pattern has no values; the same kernels take 1 for each.
template <class Types>
using RowArguments =
    CsrArguments<typename Types::RowElement, typename Types::RowElement, AddingCsrStore, float>;

template <class Types>
int row_blocks_per_sm(int lanes) {
  using Arguments = RowArguments<Types>;
  using Tuning = typename Types::RowTuning;
  if (lanes == 8) return blocks_per_sm<csr_spmm<Arguments, 8, true, Tuning>>(Tuning::kThreads);
  if (lanes == 16) return blocks_per_sm<csr_spmm<Arguments, 16, true, Tuning>>(Tuning::kThreads);
  return blocks_per_sm<csr_spmm<Arguments, 32, true, Tuning>>(Tuning::kThreads);
}

/// Starts the kernel of the long rows, then that of the short rows.
template <class Types>
int launch_residual(const LibraStreamsHeader& header, const Launch& launch, cudaStream_t stream) {
  const ResidualHeader& rows = header.parts.rows;
  auto arguments = arguments_of<RowArguments<Types>>(residual_arrays(rows, launch), rows.csr, launch);
  arguments.store.atomic = launch.part<std::uint8_t>(header.row_atomic_at);
  if (const int code = launch_arguments<typename Types::RowTuning>(arguments, launch, stream);
      code != cudaSuccess)
    return code;
  const ShortSegmentTask<RowArguments<Types>> task{arguments, launch.part<ShortSegment>(header.short_at),
                                                   header.short_count};
  return launch_short_segments(task, launch, stream);
}

Result<std::shared_ptr<void>> prepare(const ScheduleHeader& header) {
  return side_stream_if(header.as<LibraStreamsHeader>().two_streams);
}

/// Libra's policy as in the paper and, for comparison, with one rule changed.
constexpr LibraPolicy kStreams = {};
constexpr LibraPolicy kFitted = {.fitted = true};
constexpr LibraPolicy kSequential = {.mode = LibraMode::sequential};
constexpr LibraPolicy kConcurrent = {.mode = LibraMode::two_streams};
#ifdef SPTILE_ABLATIONS
constexpr LibraPolicy kUncut = {.sizes = kLibraUncut};
#endif

/// One row of the table.
template <const LibraPolicy& kPolicy, class Types>
struct StreamsInstance {
  using Tiles = typename Types::Tiles;
  static constexpr DType kType = Types::kType;

  static Schedule schedule(const ScheduleRequest& request) {
    return schedule_libra_streams(
        request, kPolicy,
        {kType, Tiles::kVariants, Tiles::blocks_per_sm, row_blocks_per_sm<Types>, Types::RowTuning::kThreads,
         short_blocks_per_sm<RowArguments<Types>>, kShortThreads, balance_on_device});
  }

  static int launch(const Launch& launch, void* stream) noexcept {
    const auto& header = launch.header->as<LibraStreamsHeader>();
    const auto main = static_cast<cudaStream_t>(stream);
    const auto* const scaled = launch.part<std::int32_t>(header.scaled_rows_at);
    if (const int code = scale_rows<float>(scaled, header.scaled_rows, launch, main); code != cudaSuccess)
      return code;
    const auto tiles = [&](cudaStream_t on) { return Tiles::start(header.parts.tiles, launch, on); };
    const auto rows = [&](cudaStream_t on) { return launch_residual<Types>(header, launch, on); };
    return run_parts(header.two_streams ? static_cast<SideStream*>(launch.resources) : nullptr, main, tiles,
                     rows);
  }

  static std::int64_t least_n(const ScheduleHeader& header, std::int64_t n) {
    const HybridHeader& parts = header.as<LibraStreamsHeader>().parts;
    return std::max(Tiles::least_n(parts.tiles, n), csr_least_n(n, csr_vector(kType)));
  }

  static constexpr DeviceKernel row(std::string_view kernel) {
    return {.kernel = kernel,
            .values = Types::kValues,
            .dense = kType,
            .precision = Types::kPrecision,
            .capability = 80,
            .ieee = false,
            .schedule = schedule,
            .launch = launch,
            .prepare = prepare,
            .least_n = least_n,
            .result = kType == DType::f32 ? DType::none : DType::f32,
            .policy = Tiles::policy};
  }
};

template <const std::string_view& kKernel, const LibraPolicy& kPolicy>
std::span<const DeviceKernel> rows() {
  static constexpr DeviceKernel kRows[] = {StreamsInstance<kPolicy, StreamsTf32<float>>::row(kKernel),
                                           StreamsInstance<kPolicy, StreamsTf32<Ones>>::row(kKernel),
                                           StreamsInstance<kPolicy, StreamsFp16<Half>>::row(kKernel),
                                           StreamsInstance<kPolicy, StreamsFp16<Ones>>::row(kKernel)};
  return kRows;
}

}  // namespace

std::span<const DeviceKernel> libra_streams_kernels() { return rows<kLibraStreams, kStreams>(); }
std::span<const DeviceKernel> libra_fitted_kernels() { return rows<kLibraFitted, kFitted>(); }
std::span<const DeviceKernel> libra_sequential_kernels() { return rows<kLibraSequential, kSequential>(); }
std::span<const DeviceKernel> libra_concurrent_kernels() { return rows<kLibraConcurrent, kConcurrent>(); }
#ifdef SPTILE_ABLATIONS
std::span<const DeviceKernel> libra_uncut_kernels() { return rows<kLibraUncutName, kUncut>(); }
std::span<const DeviceKernel> libra_staged_kernels() {
  static constexpr DeviceKernel kRows[] = {StreamsInstance<kStreams, StagedTf32<float>>::row(kLibraStaged),
                                           StreamsInstance<kStreams, StagedTf32<Ones>>::row(kLibraStaged)};
  return kRows;
}
#endif

}  // namespace sptile::runtime::cuda
