// SDDMM of csr with rows of X in registers: the teams of a row process its entries in turns
// (direct_schedule.hpp). Each result is computed by one team, so pieces of long rows need no reduction.
#include <algorithm>
#include <bit>
#include <string>

#include "formats/layout/csr.hpp"
#include "runtime/cuda/collective/direct_row.cuh"
#include "runtime/cuda/collective/epilogue.cuh"
#include "runtime/cuda/collective/warp.cuh"
#include "runtime/cuda/device/ptx.cuh"
#include "runtime/cuda/families/sddmm/lane_row.cuh"
#include "runtime/cuda/families/sddmm/launch.cuh"
#include "runtime/cuda/families/sddmm/sddmm.hpp"

namespace sptile::runtime::cuda {
namespace {

constexpr int kMaxFeatures = SddmmPolicy{}.max_direct_features;

/// Lanes that hold a row of X, with kVectorsOfLane vectors each. In f32, teams of 16 and 32 vectors have
/// short rounds: matrices of short rows leave half of the nonzeros of a longer one idle.
template <class Dense, int kLanesOfRow, int kVectorsOfLane>
struct SamplerTeam {
  static constexpr int kLanes = kLanesOfRow, kRepeats = kVectorsOfLane, kVectors = kLanes * kRepeats;
  static constexpr bool kLong = sizeof(Dense) == 2 ? kVectors >= 8 : kVectors == 8 || kVectors >= 64;
  static constexpr int kEntries = kLong ? 4 : 2;  ///< at a time
};

/// Minimum blocks per multiprocessor. A row of X is in f32, so vectors of 16 bits take twice the registers.
template <class Team>
inline constexpr int kSamplerBlocks = Team::kEntries == 2   ? 7
                                      : Team::kRepeats == 4 ? 4
                                                            : 6;

template <class Dense>
struct DirectSddmmTask {
  const std::int64_t* row_ptr;
  const std::int32_t* columns;
  const std::int32_t* rows;  ///< class by class; null: 0, 1, ...
  const std::int32_t* row_order;
  const CsrPiece* pieces;
  const CsrSplit* splits;
  LaneRows<Dense> x, y;
  std::int32_t piece_count, class_count;
  DirectClass classes[kDirectClasses];
  SddmmResults results;
  bool wide;  ///< results are f32, operands have 16 bits
  int lanes;  ///< lanes of a team

  /// Returns the nonzeros of this thread: of a segment of a long row in the first blocks, else of a row.
  [[nodiscard]] __device__ DirectRow work_of(int block) const {
    if (block >= piece_count) return direct_row(*this, block - piece_count);
    const CsrPiece piece = pieces[block];
    return {.there = true,
            .row = splits[piece.split].row,
            .begin = piece.entry,
            .entries = piece.entries,
            .thread = static_cast<int>(threadIdx.x),
            .threads = kDirectThreads};
  }

  /// Writes the result of a nonzero.
  __device__ void write(std::int64_t entry, float dot, float factor) const {
    if constexpr (sizeof(Dense) == 2) {
      if (wide) {
        write_result<float>(results, entry, dot, factor);
        return;
      }
    }
    write_result<Dense>(results, entry, dot, factor);
  }
};

template <class Math, class Team, bool kAligned>
class DirectSampler {
 public:
  static constexpr int kLanes = Team::kLanes, kRepeats = Team::kRepeats, kEntries = Team::kEntries;
  using Task = DirectSddmmTask<typename Math::Dense>;
  using Row = LaneRow<Math, kLanes, kRepeats, kAligned>;
  static constexpr int kOwned = kLanes < kEntries ? kEntries / kLanes : 1;  ///< results that a lane writes

  __device__ explicit DirectSampler(const Task& task) : t_(task) {}

  /// Samples nonzeros team, team + teams, ... of a row. All lanes of a warp take the same number of rounds;
  /// the columns of the next round are in flight.
  __device__ void sample(const DirectRow& work) const {
    const int team = work.thread / kLanes, teams = work.threads / kLanes, entries = work.entries;
    const std::int64_t begin = work.begin;
    const std::int32_t* const columns = t_.columns + begin;
    std::int32_t column[kEntries];
    load_columns(columns, team, teams, entries, column);
    Row x, y[kEntries];  // outside the loop, so that vectors past the end of a row stay zero
    x.template load<Cache::streaming>(t_.x, caller_row(t_.row_order, work.row));  // L1 is for Y
    const int lane = static_cast<int>(threadIdx.x) % kLanes, step = kEntries * teams;
    const int rounds = __reduce_max_sync(~0u, (entries + step - 1) / step);
    for (int k = team, round = 0; round < rounds; ++round, k += step) {
      float factor[kOwned];
      read_factors(begin, k, entries, teams, lane, factor);
#pragma unroll
      for (int u = 0; u < kEntries; ++u)
        if (column[u] >= 0) y[u].load(t_.y, column[u]);
      load_columns(columns, k + step, teams, entries, column);
      float dot[kEntries];
#pragma unroll
      for (int u = 0; u < kEntries; ++u) dot[u] = x.dot(y[u]);
      write(begin, k, entries, teams, lane, factor, dot);
    }
  }

 private:
  /// Loads the columns of nonzeros k, k + teams, ...; -1 past the end.
  __device__ static void load_columns(const std::int32_t* columns, int k, int teams, int entries,
                                      std::int32_t (&to)[kEntries]) {
#pragma unroll
    for (int u = 0; u < kEntries; ++u)
      to[u] = k + u * teams < entries ? load_once(columns + k + u * teams) : -1;
  }

  /// Reads the factors of the results that the lane writes, so that they are in flight together with rows of
  /// Y.
  __device__ void read_factors(std::int64_t begin, int k, int entries, int teams, int lane,
                               float (&factor)[kOwned]) const {
    const int first = transposed_first<kEntries, kOwned>(lane);
#pragma unroll
    for (int u = 0; u < kOwned; ++u) {
      const int at = k + (first + u) * teams;
      factor[u] = lane < kEntries && at < entries ? read_factor<float>(t_.results, begin + at) : 1.0F;
    }
  }

  /// Reduces the sums of the team and writes them: the first lanes write kOwned results each.
  __device__ void write(std::int64_t begin, int k, int entries, int teams, int lane,
                        const float (&factor)[kOwned], float (&dot)[kEntries]) const {
    constexpr int kSharing = kEntries / kOwned;  ///< lanes that share the sums
    reduce_transposed<Butterfly::kNearFirst, kOwned>(dot, lane);
    dot[0] = reduce_lanes<kLanes / kSharing, Butterfly::kNearFirst, kSharing>(dot[0]);
    const int first = transposed_first<kEntries, kOwned>(lane);
    if (lane >= kEntries) return;
#pragma unroll
    for (int u = 0; u < kOwned; ++u) {
      const int at = k + (first + u) * teams;
      if (at < entries) t_.write(begin + at, dot[u], factor[u]);
    }
  }

  const Task& t_;
};

template <class Math, class Team, bool kAligned>
__global__ void __launch_bounds__(kDirectThreads, kSamplerBlocks<Team>)
    sddmm_direct(const __grid_constant__ DirectSddmmTask<typename Math::Dense> task) {
  admit_next_kernel();
  const DirectRow work = task.work_of(static_cast<int>(blockIdx.x));
  await_previous_kernel();
  DirectSampler<Math, Team, kAligned>(task).sample(work);
}

/// Samples 16-bit rows that are not aligned, for teams of any number of lanes. Each lane loads every
/// `lanes`-th element of a row.
template <class Dense>
__global__ void __launch_bounds__(kDirectThreads)
    sddmm_direct_elements(const __grid_constant__ DirectSddmmTask<Dense> task) {
  constexpr int kEntries = 2;  // at a time
  admit_next_kernel();
  const DirectRow work = task.work_of(static_cast<int>(blockIdx.x));
  await_previous_kernel();
  const int lane = work.thread % task.lanes, teams = work.threads / task.lanes, step = kEntries * teams;
  const std::int64_t x = caller_row(task.row_order, work.row) * task.x.ld;
  const int rounds = __reduce_max_sync(~0u, (work.entries + step - 1) / step);
  for (int round = 0, k = work.thread / task.lanes; round < rounds; ++round, k += step) {
    std::int64_t y[kEntries];
    float dot[kEntries] = {};
#pragma unroll
    for (int u = 0; u < kEntries; ++u) {
      const int at = min(k + u * teams, work.entries - 1);  // results past the end are not written
      y[u] = at < 0 ? 0 : task.columns[work.begin + at] * task.y.ld;
    }
#pragma unroll 4
    for (int e = lane; e < task.x.n; e += task.lanes) {
      const float of_x = widen(load_number<Dense>(task.x.data, x + e));
#pragma unroll
      for (int u = 0; u < kEntries; ++u) dot[u] += of_x * widen(load_number<Dense>(task.y.data, y[u] + e));
    }
    for (int distance = 1; distance < task.lanes; distance *= 2)
#pragma unroll
      for (int u = 0; u < kEntries; ++u) dot[u] += __shfl_xor_sync(kFullMask, dot[u], distance);
#pragma unroll
    for (int u = 0; u < kEntries; ++u) {
      const std::int64_t entry = work.begin + k + u * teams;
      if (lane == 0 && k + u * teams < work.entries)
        task.write(entry, dot[u], read_factor<float>(task.results, entry));
    }
  }
}

/// Returns the team for n features. There are fewer teams for 16 bits, which saves code.
template <class Math>
DirectShape sampler_shape(std::int64_t n) {
  constexpr int kVector = Math::kElements;
  constexpr bool kHalf = sizeof(typename Math::Dense) == 2;
  const auto vectors = static_cast<unsigned>((n + kVector - 1) / kVector);
  const unsigned repeats = vectors >= (kHalf ? 17 : 32) ? 4 : vectors >= (kHalf ? 3 : 4) ? 2 : 1;
  return {static_cast<int>(std::bit_ceil((vectors + repeats - 1) / repeats)), kVector,
          static_cast<int>(repeats)};
}

template <class Dense, class Result>
DirectSddmmTask<Dense> task_of(const Launch& launch, const DirectHeader& header) {
  const formats::CsrView csr = formats::as_csr(launch.format);
  DirectSddmmTask<Dense> task;
  task.row_ptr = csr.row_ptr.data();
  task.columns = csr.col_idx.data();
  task.rows = header.rows_at < 0 ? nullptr : launch.part<std::int32_t>(header.rows_at);
  task.row_order = launch.row_order;
  task.pieces = launch.part<CsrPiece>(header.pieces_at);
  task.splits = launch.part<CsrSplit>(header.splits_at);
  task.x = lane_rows<Dense>(launch.operands.dense[kSddmmX], launch.n);
  task.y = lane_rows<Dense>(launch.operands.dense[kSddmmY], launch.n);
  task.piece_count = static_cast<std::int32_t>(header.pieces);
  task.class_count = header.class_count;
  std::copy(header.classes.begin(), header.classes.end(), task.classes);
  task.results = results_of(launch, 0, 0, sizeof(Result));
  task.wide = sizeof(Result) > sizeof(Dense);
  task.lanes = header.shape.lanes;
  return task;
}

template <auto kKernel, class Task>
int start_direct(const Task& task, const Launch& launch, const DirectHeader& header, void* stream) {
  const std::int64_t blocks = header.pieces + header.row_blocks;
  if (blocks == 0) return cudaSuccess;
  return start_kernel<kKernel>({.blocks = sliced_grid(blocks, 1, 1), .threads = kDirectThreads},
                               *launch.device, static_cast<cudaStream_t>(stream), task);
}

template <class Math, bool kAligned, class... Teams, class Task>
int start_team(const Task& task, const Launch& launch, const DirectHeader& header, void* stream) {
  int code = cudaErrorInvalidValue;
  (void)((header.shape.lanes == Teams::kLanes && header.shape.repeats == Teams::kRepeats
              ? (code = start_direct<sddmm_direct<Math, Teams, kAligned>>(task, launch, header, stream), true)
              : false) ||
         ...);
  return code;
}

int launch_direct_f32(const Launch& launch, void* stream) noexcept {
  const auto& header = launch.header->as<DirectHeader>();
  const auto task = task_of<float, float>(launch, header);
  const auto with = [&]<bool kAligned>(std::bool_constant<kAligned>) {
    return start_team<MathF32<false>, kAligned, SamplerTeam<float, 1, 1>, SamplerTeam<float, 2, 1>,
                      SamplerTeam<float, 4, 1>, SamplerTeam<float, 2, 2>, SamplerTeam<float, 4, 2>,
                      SamplerTeam<float, 8, 2>, SamplerTeam<float, 16, 2>, SamplerTeam<float, 8, 4>,
                      SamplerTeam<float, 16, 4>, SamplerTeam<float, 32, 4>>(task, launch, header, stream);
  };
  return has_lane_vectors<float>(launch) ? with(std::true_type()) : with(std::false_type());
}

template <class Dense, class Result>
int launch_direct_half(const Launch& launch, void* stream) noexcept {
  const auto& header = launch.header->as<DirectHeader>();
  const auto task = task_of<Dense, Result>(launch, header);
  if (!has_lane_vectors<Dense>(launch))
    return start_direct<sddmm_direct_elements<Dense>>(task, launch, header, stream);
  return start_team<MathHalf<Dense, 8>, true, SamplerTeam<Dense, 1, 1>, SamplerTeam<Dense, 2, 1>,
                    SamplerTeam<Dense, 2, 2>, SamplerTeam<Dense, 4, 2>, SamplerTeam<Dense, 8, 2>,
                    SamplerTeam<Dense, 8, 4>, SamplerTeam<Dense, 16, 4>>(task, launch, header, stream);
}

template <class Math>
Schedule schedule_direct(const ScheduleRequest& request) {
  return direct_schedule(formats::as_csr(request.format).row_ptr, {sampler_shape<Math>(request.n)},
                         request.device);
}

template <class Math>
Result<Schedule> restore_direct(const ScheduleRequest& request, const StoredSchedule& stored) {
  return read_direct(stored, formats::as_csr(request.format).row_ptr, {sampler_shape<Math>(request.n)},
                     request.device);
}

template <class Math>
constexpr ScheduleStore kDirectStore = {kDirectVersion, direct_numbers, restore_direct<Math>};

Status check_features(const ServiceRequest& request) {
  if (request.n <= kMaxFeatures) return check_one_head(request);
  return fail(Errc::unsupported, std::string(kCsrSddmmDirect) + " supports up to " +
                                     std::to_string(kMaxFeatures) +
                                     " features, got n = " + std::to_string(request.n));
}

std::int64_t same_n(const ScheduleHeader& /*header*/, std::int64_t n) { return n; }

template <class Math, DType kDense>
constexpr DeviceKernel instance(Precision precision, int (*launch)(const Launch&, void*) noexcept,
                                DType result = DType::none) {
  return {.kernel = kCsrSddmmDirect,
          .values = DType::none,
          .dense = kDense,
          .precision = precision,
          .capability = 80,
          .ieee = true,
          .schedule = schedule_direct<Math>,
          .launch = launch,
          .any_values = true,
          .least_n = same_n,
          .result = result,
          .store = &kDirectStore<Math>,
          .check = check_features,
          .policy = policy_values_for<direct_policy_for, kDense>};
}

/// Instances of a 16-bit type with results of this type and in f32.
template <class Dense, class Result>
constexpr DeviceKernel half_instance(Precision precision) {
  return instance<MathHalf<Dense, 8>, kDTypeOf<Dense>>(precision, launch_direct_half<Dense, Result>,
                                                       kDTypeOf<Result>);
}

constexpr DeviceKernel kDirectRows[] = {
    instance<MathF32<false>, DType::f32>(Precision::fp32, launch_direct_f32),
    half_instance<Half, Half>(Precision::fp16), half_instance<BFloat16, BFloat16>(Precision::bf16),
    half_instance<Half, float>(Precision::fp16), half_instance<BFloat16, float>(Precision::bf16)};

}  // namespace

std::span<const DeviceKernel> csr_sddmm_direct_kernels() { return kDirectRows; }

}  // namespace sptile::runtime::cuda
