// SDDMM of csr with rows of X in registers: the teams of a row process its entries in turns
// (direct_schedule.hpp). Each result is computed by one team, so pieces of long rows need no reduction.
#include <algorithm>
#include <bit>
#include <string>

#include "formats/layout/csr.hpp"
#include "runtime/cuda/collective/direct_row.cuh"
#include "runtime/cuda/collective/epilogue.cuh"
#include "runtime/cuda/collective/vector.cuh"
#include "runtime/cuda/collective/warp.cuh"
#include "runtime/cuda/device/ptx.cuh"
#include "runtime/cuda/families/sddmm/launch.cuh"
#include "runtime/cuda/families/sddmm/sddmm.hpp"

namespace sptile::runtime::cuda {
namespace {

constexpr int kVector = 4, kMaxFeatures = SddmmPolicy{}.max_direct_features;
/// Nonzeros of a team at a time. A warp has fewer teams for wide rows, so each has more in flight.
template <int kRepeats>
inline constexpr int kEntriesOf = kRepeats == 4 ? 4 : 2;

struct DirectSddmmTask {
  const std::int64_t* row_ptr;
  const std::int32_t* columns;
  const std::int32_t* rows;  ///< class by class; null: 0, 1, ...
  const std::int32_t* row_order;
  const CsrPiece* pieces;
  const CsrSplit* splits;
  const float* x;
  const float* y;
  std::int64_t ldx, ldy;
  std::int32_t n, piece_count, class_count;
  DirectClass classes[kDirectClasses];
  SddmmResults results;
};

/// A team of lanes, which holds a row of X.
template <int kLanes, int kRepeats, bool kAligned>
class DirectSampler {
 public:
  using Row = float[kRepeats][kVector];
  static constexpr int kEntries = kEntriesOf<kRepeats>;

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
  /// Loads the lane's elements of a row; 0 past the end.
  __device__ void load(const float* row, Row& to) const {
    const int lane = static_cast<int>(threadIdx.x) % kLanes;
#pragma unroll
    for (int r = 0; r < kRepeats; ++r) {
      if constexpr (kAligned) {
        const int first = (r * kLanes + lane) * kVector;
        uint4 bits{};
        if (first < t_.n) bits = load_vector<uint4>(row + first);
        __builtin_memcpy(to[r], &bits, sizeof bits);
      } else {
#pragma unroll
        for (int e = 0; e < kVector; ++e) {
          const int column = (r * kVector + e) * kLanes + lane;
          to[r][e] = column < t_.n ? __ldg(row + column) : 0.0F;
        }
      }
    }
  }

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
    load(t_.x + caller_row(t_.row_order, row) * t_.ldx, x);
    const int lane = static_cast<int>(threadIdx.x) % kLanes, step = kEntries * teams;
    const int rounds = __reduce_max_sync(~0u, (entries + step - 1) / step);
    for (int k = team, round = 0; round < rounds; ++round, k += step) {
      Row y[kEntries] = {};
#pragma unroll
      for (int u = 0; u < kEntries; ++u)
        if (column[u] >= 0) load(t_.y + column[u] * t_.ldy, y[u]);
      load_columns(columns, k + step, teams, entries, column);
      float dot[kEntries] = {};
#pragma unroll
      for (int u = 0; u < kEntries; ++u)
#pragma unroll
        for (int r = 0; r < kRepeats; ++r)
#pragma unroll
          for (int e = 0; e < kVector; ++e) dot[u] += x[r][e] * y[u][r][e];
      write(begin, k, entries, teams, lane, dot);
    }
  }

  /// Reduces the sums of the team and writes them: the first lanes write one or more results each.
  __device__ void write(std::int64_t begin, int k, int entries, int teams, int lane,
                        float (&dot)[kEntries]) const {
    constexpr int kOwned = kLanes < kEntries ? kEntries / kLanes : 1;  ///< sums per lane at the end
    constexpr int kSharing = kEntries / kOwned;                        ///< lanes that share the sums
    reduce_transposed<Butterfly::kNearFirst, kOwned>(dot, lane);
    dot[0] = reduce_lanes<kLanes / kSharing, Butterfly::kNearFirst, kSharing>(dot[0]);
    const int first = transposed_first<kEntries, kOwned>(lane);
    if (lane >= kEntries) return;
#pragma unroll
    for (int u = 0; u < kOwned; ++u) {
      const int at = k + (first + u) * teams;
      if (at < entries) write_result<float>(t_.results, begin + at, dot[u]);
    }
  }

  const DirectSddmmTask& t_;
};

template <int kLanes, int kRepeats, bool kAligned>
__global__ void __launch_bounds__(kDirectThreads, kRepeats == 4 ? 4 : 7)
    sddmm_direct(const __grid_constant__ DirectSddmmTask task) {
  admit_next_kernel();
  const DirectSampler<kLanes, kRepeats, kAligned> sampler(task);
  const auto block = static_cast<int>(blockIdx.x);
  if (block < task.piece_count)
    sampler.run_piece(block);
  else
    sampler.run_rows(block - task.piece_count);
}

DirectShape sddmm_shape(std::int64_t n) {
  const auto vectors = static_cast<unsigned>((n + kVector - 1) / kVector);
  const unsigned repeats = vectors >= 32 ? 4 : vectors >= 4 ? 2 : 1;
  return {static_cast<int>(std::bit_ceil((vectors + repeats - 1) / repeats)), kVector,
          static_cast<int>(repeats)};
}

DirectSddmmTask task_of(const Launch& launch, const DirectHeader& header) {
  const formats::CsrView csr = formats::as_csr(launch.format);
  const Operand &x = launch.operands.dense[kSddmmX], &y = launch.operands.dense[kSddmmY];
  DirectSddmmTask task;
  task.row_ptr = csr.row_ptr.data();
  task.columns = csr.col_idx.data();
  task.rows = header.rows_at < 0 ? nullptr : launch.part<std::int32_t>(header.rows_at);
  task.row_order = launch.row_order;
  task.pieces = launch.part<CsrPiece>(header.pieces_at);
  task.splits = launch.part<CsrSplit>(header.splits_at);
  task.x = static_cast<const float*>(x.data);
  task.y = static_cast<const float*>(y.data);
  task.ldx = x.ld;
  task.ldy = y.ld;
  task.n = static_cast<std::int32_t>(launch.n);
  task.piece_count = static_cast<std::int32_t>(header.pieces);
  task.class_count = header.class_count;
  std::copy(header.classes.begin(), header.classes.end(), task.classes);
  task.results = results_of(launch, 0, 0, sizeof(float));
  return task;
}

template <int kLanes, int kRepeats>
struct Team {};

template <bool kAligned, int... kLanes, int... kRepeats>
int start_sampler(const Launch& launch, void* stream, Team<kLanes, kRepeats>...) {
  const auto& header = launch.header->as<DirectHeader>();
  const std::int64_t blocks = header.pieces + header.row_blocks;
  if (blocks == 0) return cudaSuccess;
  const DirectSddmmTask task = task_of(launch, header);
  int code = cudaErrorInvalidValue;
  (void)((header.shape.lanes == kLanes && header.shape.repeats == kRepeats
              ? (code = start_kernel<sddmm_direct<kLanes, kRepeats, kAligned>>(
                     {.blocks = sliced_grid(blocks, 1, 1), .threads = kDirectThreads}, *launch.device,
                     static_cast<cudaStream_t>(stream), task),
                 true)
              : false) ||
         ...);
  return code;
}

int launch_direct_sddmm(const Launch& launch, void* stream) noexcept {
  const auto with = [&]<bool kAligned>(std::bool_constant<kAligned>) {
    return start_sampler<kAligned>(launch, stream, Team<1, 1>(), Team<2, 1>(), Team<4, 1>(), Team<2, 2>(),
                                   Team<4, 2>(), Team<8, 2>(), Team<16, 2>(), Team<8, 4>(), Team<16, 4>(),
                                   Team<32, 4>());
  };
  return whole_rows(launch, sizeof(float)) ? with(std::true_type()) : with(std::false_type());
}

Schedule schedule_direct(const ScheduleRequest& request) {
  return direct_schedule(formats::as_csr(request.format).row_ptr, {sddmm_shape(request.n)}, request.device);
}

Result<Schedule> restore_direct(const ScheduleRequest& request, const StoredSchedule& stored) {
  return read_direct(stored, formats::as_csr(request.format).row_ptr, {sddmm_shape(request.n)},
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
