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

constexpr int kVector = 4, kMaxFeatures = SddmmPolicy{}.max_direct_features;

/// Lanes that hold a row of X, with kVectorsOfLane vectors each. A warp has few of the widest teams, so each
/// multiplies more nonzeros at a time; the registers of others are for more blocks per multiprocessor.
template <int kLanesOfRow, int kVectorsOfLane>
struct SamplerTeam {
  static constexpr int kLanes = kLanesOfRow, kRepeats = kVectorsOfLane;
  static constexpr bool kWide = kLanes * kRepeats >= 64;
  static constexpr int kEntries = kWide ? 4 : 2;                     ///< at a time
  static constexpr int kBlocks = kWide ? 4 : kRepeats == 4 ? 6 : 7;  ///< minimum per multiprocessor
};

struct DirectSddmmTask {
  const std::int64_t* row_ptr;
  const std::int32_t* columns;
  const std::int32_t* rows;  ///< class by class; null: 0, 1, ...
  const std::int32_t* row_order;
  const CsrPiece* pieces;
  const CsrSplit* splits;
  LaneRows x, y;
  std::int32_t piece_count, class_count;
  DirectClass classes[kDirectClasses];
  SddmmResults results;
};

template <class Team, bool kAligned>
class DirectSampler {
 public:
  static constexpr int kLanes = Team::kLanes, kRepeats = Team::kRepeats, kEntries = Team::kEntries;
  using Row = LaneRow<kLanes, kRepeats, kAligned>;
  static constexpr int kOwned = kLanes < kEntries ? kEntries / kLanes : 1;  ///< results that a lane writes

  __device__ explicit DirectSampler(const DirectSddmmTask& task) : t_(task) {}

  __device__ void run_rows(int block) const {
    const DirectRow mine = direct_row(t_, block);
    await_previous_kernel();
    sample(mine.row, mine.begin, mine.entries, mine.thread / kLanes, mine.threads / kLanes);
  }

  __device__ void run_piece(int index) const {
    const CsrPiece piece = t_.pieces[index];
    const std::int32_t row = t_.splits[piece.split].row;
    await_previous_kernel();
    sample(row, piece.entry, piece.entries, static_cast<int>(threadIdx.x) / kLanes, kDirectThreads / kLanes);
  }

 private:
  /// Loads the columns of nonzeros k, k + teams, ...; -1 past the end.
  __device__ static void load_columns(const std::int32_t* columns, int k, int teams, int entries,
                                      std::int32_t (&to)[kEntries]) {
#pragma unroll
    for (int u = 0; u < kEntries; ++u)
      to[u] = k + u * teams < entries ? load_once(columns + k + u * teams) : -1;
  }

  /// Samples nonzeros team, team + teams, ... of a row. All lanes of a warp take the same number of rounds;
  /// the columns of the next round are in flight.
  __device__ void sample(std::int32_t row, std::int64_t begin, int entries, int team, int teams) const {
    const std::int32_t* const columns = t_.columns + begin;
    std::int32_t column[kEntries];
    load_columns(columns, team, teams, entries, column);
    Row x;
    x.load(t_.x, caller_row(t_.row_order, row));
    const int lane = static_cast<int>(threadIdx.x) % kLanes, step = kEntries * teams;
    const int rounds = __reduce_max_sync(~0u, (entries + step - 1) / step);
    for (int k = team, round = 0; round < rounds; ++round, k += step) {
      float factor[kOwned];
      read_factors(begin, k, entries, teams, lane, factor);
      Row y[kEntries];
#pragma unroll
      for (int u = 0; u < kEntries; ++u)
        if (column[u] >= 0) y[u].load(t_.y, column[u]);
      load_columns(columns, k + step, teams, entries, column);
      float dot[kEntries];
#pragma unroll
      for (int u = 0; u < kEntries; ++u) dot[u] = x.dot(y[u], t_.x.n);
      write(begin, k, entries, teams, lane, factor, dot);
    }
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
      if (at < entries) write_result<float>(t_.results, begin + at, dot[u], factor[u]);
    }
  }

  const DirectSddmmTask& t_;
};

template <class Team, bool kAligned>
__global__ void __launch_bounds__(kDirectThreads, Team::kBlocks)
    sddmm_direct(const __grid_constant__ DirectSddmmTask task) {
  admit_next_kernel();
  const DirectSampler<Team, kAligned> sampler(task);
  const auto block = static_cast<int>(blockIdx.x);
  if (block < task.piece_count)
    sampler.run_piece(block);
  else
    sampler.run_rows(block - task.piece_count);
}

DirectShape sampler_shape(std::int64_t n) {
  const auto vectors = static_cast<unsigned>((n + kVector - 1) / kVector);
  const unsigned repeats = vectors >= 32 ? 4 : vectors >= 4 ? 2 : 1;
  return {static_cast<int>(std::bit_ceil((vectors + repeats - 1) / repeats)), kVector,
          static_cast<int>(repeats)};
}

DirectSddmmTask task_of(const Launch& launch, const DirectHeader& header) {
  const formats::CsrView csr = formats::as_csr(launch.format);
  DirectSddmmTask task;
  task.row_ptr = csr.row_ptr.data();
  task.columns = csr.col_idx.data();
  task.rows = header.rows_at < 0 ? nullptr : launch.part<std::int32_t>(header.rows_at);
  task.row_order = launch.row_order;
  task.pieces = launch.part<CsrPiece>(header.pieces_at);
  task.splits = launch.part<CsrSplit>(header.splits_at);
  task.x = lane_rows(launch.operands.dense[kSddmmX], launch.n);
  task.y = lane_rows(launch.operands.dense[kSddmmY], launch.n);
  task.piece_count = static_cast<std::int32_t>(header.pieces);
  task.class_count = header.class_count;
  std::copy(header.classes.begin(), header.classes.end(), task.classes);
  task.results = results_of(launch, 0, 0, sizeof(float));
  return task;
}

template <bool kAligned, class... Teams>
int start_sampler(const Launch& launch, void* stream) {
  const auto& header = launch.header->as<DirectHeader>();
  const std::int64_t blocks = header.pieces + header.row_blocks;
  if (blocks == 0) return cudaSuccess;
  const DirectSddmmTask task = task_of(launch, header);
  int code = cudaErrorInvalidValue;
  (void)((header.shape.lanes == Teams::kLanes && header.shape.repeats == Teams::kRepeats
              ? (code = start_kernel<sddmm_direct<Teams, kAligned>>(
                     {.blocks = sliced_grid(blocks, 1, 1), .threads = kDirectThreads}, *launch.device,
                     static_cast<cudaStream_t>(stream), task),
                 true)
              : false) ||
         ...);
  return code;
}

int launch_direct_sddmm(const Launch& launch, void* stream) noexcept {
  const auto with = [&]<bool kAligned>(std::bool_constant<kAligned>) {
    return start_sampler<kAligned, SamplerTeam<1, 1>, SamplerTeam<2, 1>, SamplerTeam<4, 1>, SamplerTeam<2, 2>,
                         SamplerTeam<4, 2>, SamplerTeam<8, 2>, SamplerTeam<16, 2>, SamplerTeam<8, 4>,
                         SamplerTeam<16, 4>, SamplerTeam<32, 4>>(launch, stream);
  };
  return has_lane_vectors(launch) ? with(std::true_type()) : with(std::false_type());
}

Schedule schedule_direct(const ScheduleRequest& request) {
  return direct_schedule(formats::as_csr(request.format).row_ptr, {sampler_shape(request.n)}, request.device);
}

Result<Schedule> restore_direct(const ScheduleRequest& request, const StoredSchedule& stored) {
  return read_direct(stored, formats::as_csr(request.format).row_ptr, {sampler_shape(request.n)},
                     request.device);
}

constexpr ScheduleStore kDirectStore = {kDirectVersion, direct_numbers, restore_direct};

Status check_features(const ServiceRequest& request) {
  if (request.n <= kMaxFeatures) return check_one_head(request);
  return fail(Errc::unsupported, std::string(kCsrSddmmDirect) + " supports up to " +
                                     std::to_string(kMaxFeatures) +
                                     " features, got n = " + std::to_string(request.n));
}

std::int64_t same_n(const ScheduleHeader& /*header*/, std::int64_t n) { return n; }

constexpr DeviceKernel kDirectRows[] = {{.kernel = kCsrSddmmDirect,
                                         .values = DType::none,
                                         .dense = DType::f32,
                                         .precision = Precision::fp32,
                                         .capability = 80,
                                         .ieee = true,
                                         .schedule = schedule_direct,
                                         .launch = launch_direct_sddmm,
                                         .any_values = true,
                                         .least_n = same_n,
                                         .result = DType::none,
                                         .store = &kDirectStore,
                                         .check = check_features,
                                         .policy = policy_values_for<direct_policy_for, DType::f32>}};

}  // namespace

std::span<const DeviceKernel> csr_sddmm_direct_kernels() { return kDirectRows; }

}  // namespace sptile::runtime::cuda
