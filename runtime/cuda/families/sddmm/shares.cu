// SDDMM of csr with equal numbers of consecutive nonzeros per group of lanes, wherever rows end. A group
// keeps the row of X of its current nonzero in registers and loads the next one together with rows of Y.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "formats/layout/csr.hpp"
#include "runtime/cuda/collective/direct_schedule.hpp"
#include "runtime/cuda/collective/epilogue.cuh"
#include "runtime/cuda/collective/lanes.hpp"
#include "runtime/cuda/collective/row_chunks.hpp"
#include "runtime/cuda/collective/warp.cuh"
#include "runtime/cuda/device/ptx.cuh"
#include "runtime/cuda/families/sddmm/lane_row.cuh"
#include "runtime/cuda/families/sddmm/launch.cuh"
#include "runtime/cuda/families/sddmm/sddmm.hpp"
#include "runtime/cuda/stored_schedule.hpp"

namespace sptile::runtime::cuda {
namespace {

constexpr SampleSharesPolicy kSamplePolicy = sample_shares_policy_for(80);
constexpr int kSampleThreads = kSamplePolicy.threads, kSampleLanes = 8,
              kSampleGroups = kSampleThreads / kSampleLanes;
constexpr int kMaxSampleFeatures = kSampleLanes * 4 * 4;  ///< four vectors of 16 bytes per lane

/// Launch parameters; `..._at` are offsets in Schedule::bytes.
struct SampleHeader {
  std::int64_t chunks_at = 0, chunks = 0;  ///< RowChunk
  std::int64_t rows_at = -1, rows = 0;     ///< std::int32_t ids of rows that are not empty; -1: all rows
  std::int32_t each = 1;                   ///< chunks per group
};

struct SampleTask {
  const RowChunk* chunks;
  const std::int32_t* rows;  ///< ids of the rows that are not empty; null: 0, 1, ...
  const std::int32_t* row_order;
  const std::int32_t* columns;
  LaneRows x, y;
  std::int64_t entries, chunk_count;
  std::int32_t row_count, each;
  bool vectors;  ///< columns can be loaded 16 bytes at a time
  SddmmResults results;
};

/// A group of 8 lanes.
template <int kRepeats, bool kAligned>
class SharesSampler {
 public:
  using Row = LaneRow<kSampleLanes, kRepeats, kAligned>;
  static constexpr int kEntries = 4;  ///< nonzeros at a time, whose columns one lane has loaded
  static constexpr int kRounds = kRowChunk / kEntries;
  static_assert(kRounds == kSampleLanes);

  __device__ explicit SharesSampler(const SampleTask& task)
      : t_(task), lane_(static_cast<int>(threadIdx.x) % kSampleLanes) {}

  __device__ void run(std::int64_t group) {
    const std::int64_t first = group * t_.each, stop = min(first + t_.each, t_.chunk_count);
    std::int32_t columns[kEntries] = {};
    RowChunk chunk = {};
    if (first < stop) {
      chunk = t_.chunks[first];
      position_ = chunk.row;
      fetch(first, columns);
    }
    await_previous_kernel();
    if (first < stop) load_x(x_);
#pragma unroll 1
    for (int i = 0; i < t_.each; ++i) {
      const std::int64_t at = first + i;
      const std::uint32_t ends = chunk.ends;
      std::int32_t now[kEntries];
#pragma unroll
      for (int u = 0; u < kEntries; ++u) now[u] = columns[u];
      if (at + 1 < stop) {
        chunk = t_.chunks[at + 1];
        fetch(at + 1, columns);
      }
      sample(at * kRowChunk, at < stop ? t_.entries : 0, ends, now);
    }
  }

 private:
  __device__ void fetch(std::int64_t chunk, std::int32_t (&columns)[kEntries]) const {
    const std::int64_t base = chunk * kRowChunk, at = base + lane_ * kEntries;
    if (t_.vectors && base + kRowChunk <= t_.entries) {
      const uint4 four = load_once(reinterpret_cast<const uint4*>(t_.columns + at));
      __builtin_memcpy(columns, &four, sizeof four);
      return;
    }
#pragma unroll
    for (int u = 0; u < kEntries; ++u) columns[u] = load_once(t_.columns + min(at + u, t_.entries - 1));
  }

  /// Loads the row of X of the current row, or of the last row after the end.
  __device__ void load_x(Row& x) const {
    const std::int32_t there = min(position_, t_.row_count - 1);
    const std::int32_t row = t_.rows != nullptr ? __ldg(t_.rows + there) : there;
    x.load(t_.x, caller_row(t_.row_order, row));
  }

  /// Samples the nonzeros of a chunk from `base` on, up to nonzero `end`. All lanes of the warp call it.
  __device__ void sample(std::int64_t base, std::int64_t end, std::uint32_t ends,
                         const std::int32_t (&columns)[kEntries]) {
#pragma unroll 1
    for (int round = 0; round < kRounds; ++round) {
      const std::int64_t first = base + round * kEntries, mine = first + transposed_first<kEntries, 1>(lane_);
      const bool writes = lane_ < kEntries && mine < end;
      const float factor = writes ? read_factor<float>(t_.results, mine) : 1.0F;
      std::uint32_t here = ends >> (round * kEntries) & bits_below(kEntries);
      Row y[kEntries], next = {};
#pragma unroll
      for (int u = 0; u < kEntries; ++u) {
        const std::int32_t column = __shfl_sync(kFullMask, columns[u], round, kSampleLanes);
        if (first + u < end) y[u].load(t_.y, column);
      }
      if (here != 0) {
        ++position_;
        load_x(next);
      }
      float dot[kEntries];
#pragma unroll
      for (int u = 0; u < kEntries; ++u) {
        dot[u] = x_.dot(y[u], t_.x.n);
        if ((here >> u & 1) == 0) continue;
        x_ = next;
        here &= here - 1;
        if (here == 0) continue;
        ++position_;
        load_x(next);
      }
      reduce_transposed<Butterfly::kNearFirst>(dot, lane_);
      const float sum = reduce_lanes<kSampleLanes / kEntries, Butterfly::kNearFirst, kEntries>(dot[0]);
      if (writes) write_result<float>(t_.results, mine, sum, factor);
    }
  }

  const SampleTask& t_;
  int lane_;
  std::int32_t position_ = 0;  ///< index of the row of x_
  Row x_;
};

template <int kRepeats, bool kAligned>
__global__ void __launch_bounds__(kSampleThreads, kRepeats == 4 ? kSamplePolicy.blocks : 6)
    sddmm_shares(const __grid_constant__ SampleTask task) {
  admit_next_kernel();
  const int group = static_cast<int>(threadIdx.x) / kSampleLanes;
  SharesSampler<kRepeats, kAligned>(task).run(std::int64_t{blockIdx.x} * kSampleGroups + group);
}

SampleTask sample_task(const Launch& launch, const SampleHeader& header) {
  const formats::CsrView csr = formats::as_csr(launch.format);
  SampleTask task;
  task.chunks = launch.part<RowChunk>(header.chunks_at);
  task.rows = header.rows_at < 0 ? nullptr : launch.part<std::int32_t>(header.rows_at);
  task.row_order = launch.row_order;
  task.columns = csr.col_idx.data();
  task.x = lane_rows(launch.operands.dense[kSddmmX], launch.n);
  task.y = lane_rows(launch.operands.dense[kSddmmY], launch.n);
  task.entries = std::ssize(csr.col_idx);
  task.chunk_count = header.chunks;
  task.row_count = static_cast<std::int32_t>(header.rows);
  task.each = header.each;
  task.vectors = reinterpret_cast<std::uintptr_t>(task.columns) % 16 == 0;
  task.results = results_of(launch, 0, 0, sizeof(float));
  return task;
}

template <int kRepeats, bool kAligned>
int start_shares(const Launch& launch, void* stream) {
  const auto& header = launch.header->as<SampleHeader>();
  const std::int64_t of_block = std::int64_t{kSampleGroups} * header.each;
  const auto blocks = static_cast<unsigned>((header.chunks + of_block - 1) / of_block);
  if (blocks == 0) return cudaSuccess;
  return start_kernel<sddmm_shares<kRepeats, kAligned>>({.blocks = dim3(blocks), .threads = kSampleThreads},
                                                        *launch.device, static_cast<cudaStream_t>(stream),
                                                        sample_task(launch, header));
}

int launch_sddmm_shares(const Launch& launch, void* stream) noexcept {
  if (!has_lane_vectors(launch)) return start_shares<4, false>(launch, stream);
  if (launch.n <= kMaxSampleFeatures / 4) return start_shares<1, true>(launch, stream);
  if (launch.n <= kMaxSampleFeatures / 2) return start_shares<2, true>(launch, stream);
  return start_shares<4, true>(launch, stream);
}

/// Returns the chunks of the matrix and the header of their schedule, without offsets.
RowChunks chunks_of(const ScheduleRequest& request, SampleHeader& header) {
  RowChunks made = row_chunks(formats::as_csr(request.format).row_ptr);
  header.chunks = std::ssize(made.chunks);
  header.rows = made.row_count;
  const std::int64_t groups =
      std::int64_t{std::max(request.device.sm_count, 1)} * kSamplePolicy.blocks_of_work * kSampleGroups;
  header.each = static_cast<std::int32_t>(
      std::clamp<std::int64_t>(header.chunks / groups, 1, kSamplePolicy.max_chunks));
  return made;
}

Schedule schedule_sddmm_shares(const ScheduleRequest& request) {
  Schedule schedule;
  SampleHeader header;
  const RowChunks made = chunks_of(request, header);
  header.chunks_at = append(schedule, made.chunks);
  if (!made.rows.empty()) header.rows_at = append(schedule, made.rows);
  schedule.header.set(header);
  return schedule;
}

Result<Schedule> restore_sddmm_shares(const ScheduleRequest& request, const StoredSchedule& stored) {
  return restore_schedule(stored, [&](ScheduleReader& reader, Schedule& /*schedule*/) {
    SampleHeader header;
    const RowChunks made = chunks_of(request, header);
    reader.expect(made.chunks, header.chunks_at, "a row ends at a wrong nonzero");
    if (!made.rows.empty()) reader.expect(made.rows, header.rows_at, "a row is missing");
    return header;
  });
}

std::vector<std::int64_t> no_sample_numbers(const ScheduleHeader& /*header*/) { return {}; }

constexpr ScheduleStore kSampleStore = {1, no_sample_numbers, restore_sddmm_shares};

Status check_sample(const ServiceRequest& request) {
  if (request.n <= kMaxSampleFeatures) return check_one_head(request);
  return fail(Errc::unsupported, std::string(kCsrSddmmShares) + " supports up to " +
                                     std::to_string(kMaxSampleFeatures) +
                                     " features, got n = " + std::to_string(request.n));
}

constexpr DeviceKernel kSharesRows[] = {{.kernel = kCsrSddmmShares,
                                         .values = DType::none,
                                         .dense = DType::f32,
                                         .precision = Precision::fp32,
                                         .capability = 80,
                                         .ieee = true,
                                         .schedule = schedule_sddmm_shares,
                                         .launch = launch_sddmm_shares,
                                         .any_values = true,
                                         .result = DType::none,
                                         .store = &kSampleStore,
                                         .check = check_sample,
                                         .policy = policy_values_for<sample_shares_policy_for>}};

}  // namespace

std::span<const DeviceKernel> csr_sddmm_shares_kernels() { return kSharesRows; }

}  // namespace sptile::runtime::cuda
