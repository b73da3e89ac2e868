// SDDMM of libra_sddmm with Libra's balance and scheduling (sections 4.3 and 4.4), for comparison with
// cuda.libra_sddmm.sddmm, which runs both parts in one launch.
#include "runtime/cuda/papers/libra_streams/sddmm.cuh"

#include "runtime/cuda/papers/libra_streams/libra_streams.hpp"
#include "runtime/cuda/papers/libra_streams/side_stream.hpp"

namespace sptile::runtime::cuda {
namespace {

constexpr LibraPolicy kStreams = {};
constexpr LibraPolicy kSequential = {.mode = LibraMode::sequential};
constexpr LibraPolicy kConcurrent = {.mode = LibraMode::two_streams};
#ifdef SPTILE_ABLATIONS
constexpr LibraPolicy kUncut = {.sizes = kLibraUncut};
#endif

template <class Math, int kTileRows, bool kWide>
inline constexpr int kRegisters =
    kWide ? kSddmmPolicy<Math, kTileRows>.wide_registers : kSddmmPolicy<Math, kTileRows>.narrow_registers;

/// `Dots` multiplies tiles, `Math` nonzeros in rows.
template <class Dots, int kTileSteps, class Math, int kLanes, int kSteps, bool kVector, bool kWide>
using Set = LibraSddmmSet<
    sddmm_window_segments<SddmmShape<SddmmMask8, Dots, kTileSteps, kVector>, kRegisters<Math, 8, kWide>>,
    sddmm_row_segments<EntryShape<Math, kLanes, kSteps, kVector>, kRegisters<Math, 0, kWide>>,
    sddmm_short_rows<EntryShape<Math, kLanes, kSteps, kVector>, kRegisters<Math, 0, kWide>>, kLanes>;

/// f32 operands and results, products of tiles in tf32.
struct SddmmTf32 {
  using Math = MathF32<false>;
  using Dots = DotF32<false>;
  using Any = Set<Dots, 2, Math, 8, 1, false, true>;
  using Narrow = Set<Dots, 2, Math, 8, 1, true, false>;
  using Wide = Set<Dots, 8, Math, 8, 2, true, true>;
  static constexpr DType kType = DType::f32;
  static constexpr Precision kPrecision = Precision::tf32;
};

/// 16-bit operands, sums and results in f32, as in the paper (section 4.4.2).
template <class D, Precision kPrecisionT>
struct SddmmHalf {
  using Math = MathHalf<D, 8, float>;
  using Any = Set<DotHalf<D, 4, float>, 2, Math, 8, 1, false, true>;
  using Wide = Set<DotHalf<D, 8, float>, 4, Math, 8, 2, true, true>;
  using Narrow = Wide;
  static constexpr DType kType = kDTypeOf<D>;
  static constexpr Precision kPrecision = kPrecisionT;
};

constexpr bool is_narrow(std::int64_t n) { return n <= SddmmPolicy{}.narrow_features; }

/// One row of the table.
template <const LibraPolicy& kPolicy, class Types>
struct SddmmInstance {
  static Schedule schedule(const ScheduleRequest& request) {
    const bool narrow = is_narrow(request.n);
    return schedule_libra_sddmm(request, kPolicy, narrow ? Types::Narrow::kernels() : Types::Wide::kernels());
  }

  static Result<std::shared_ptr<void>> prepare(const ScheduleHeader& header) {
    return side_stream_if(header.as<LibraSddmmHeader>().two_streams);
  }

  static int launch(const Launch& launch, void* stream) noexcept {
    if (!whole_rows(launch, kElementBytes)) return launch_set<typename Types::Any>(launch, stream);
    return is_narrow(launch.n) ? launch_set<typename Types::Narrow>(launch, stream)
                               : launch_set<typename Types::Wide>(launch, stream);
  }

  /// Occupancy depends on the kernels for few or many features.
  static std::int64_t least_n(const ScheduleHeader& /*header*/, std::int64_t n) {
    return is_narrow(n) ? 1 : SddmmPolicy{}.narrow_features + 1;
  }

  static constexpr DeviceKernel row(std::string_view kernel) {
    return {.kernel = kernel,
            .values = DType::none,
            .dense = Types::kType,
            .precision = Types::kPrecision,
            .capability = 80,
            .ieee = true,
            .schedule = schedule,
            .launch = launch,
            .any_values = true,
            .prepare = prepare,
            .least_n = least_n,
            .result = Types::kType == DType::f32 ? DType::none : DType::f32,
            .batched = true,
            .policy = policy_values_for<sddmm_policy_for, Types::kType, 8>};
  }

 private:
  static constexpr std::int64_t kElementBytes = sizeof(typename Types::Math::Dense);

  template <class Set>
  static int launch_set(const Launch& launch, void* stream) {
    const auto& header = launch.header->as<LibraSddmmHeader>();
    const SddmmTask task =
        sddmm_task(header.parts, launch, kElementBytes, sizeof(typename Types::Math::Result));
    const auto tiles = [&](cudaStream_t on) { return Set::start_tiles(task, launch, on); };
    const auto rows = [&](cudaStream_t on) { return Set::start_rows(task, launch, on); };
    const bool concurrent = header.concurrent(launch.sizes.heads);
    return run_parts(concurrent ? static_cast<SideStream*>(launch.resources) : nullptr,
                     static_cast<cudaStream_t>(stream), tiles, rows);
  }
};

template <const std::string_view& kKernel, const LibraPolicy& kPolicy>
std::span<const DeviceKernel> rows() {
  static constexpr DeviceKernel kRows[] = {
      SddmmInstance<kPolicy, SddmmTf32>::row(kKernel),
      SddmmInstance<kPolicy, SddmmHalf<Half, Precision::fp16>>::row(kKernel),
      SddmmInstance<kPolicy, SddmmHalf<BFloat16, Precision::bf16>>::row(kKernel)};
  return kRows;
}

}  // namespace

std::span<const DeviceKernel> libra_sddmm_streams_kernels() { return rows<kLibraSddmmStreams, kStreams>(); }
std::span<const DeviceKernel> libra_sddmm_sequential_kernels() {
  return rows<kLibraSddmmSequential, kSequential>();
}
std::span<const DeviceKernel> libra_sddmm_concurrent_kernels() {
  return rows<kLibraSddmmConcurrent, kConcurrent>();
}
#ifdef SPTILE_ABLATIONS
std::span<const DeviceKernel> libra_sddmm_uncut_kernels() { return rows<kLibraSddmmUncut, kUncut>(); }
#endif

}  // namespace sptile::runtime::cuda
