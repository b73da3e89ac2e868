// Aggregation and update in one kernel. A warp processes a window of up to 16 rows: groups of lanes sum rows
// of Z = A B into shared memory, as in the csr kernel, and tensor cores multiply them by the weights, which
// stay in shared memory. Warps share only the weights, so that some load while others multiply. Rows that are
// too long for a warp are split; the warp that finishes the last piece adds all of them in order.
#pragma once

#include <climits>

#include "runtime/cuda/collective/csr_walk.cuh"
#include "runtime/cuda/collective/lane_columns.cuh"
#include "runtime/cuda/families/update/math.cuh"

namespace sptile::runtime::cuda {

template <class DenseT, class MathT>
struct FusedTask {
  using Dense = DenseT;
  using Math = MathT;
  using Sum = typename Math::Sum;
  const std::int64_t* row_ptr;
  const std::int32_t* columns;
  const void* values;
  DType value_type;  ///< none: all values are 1
  const std::int32_t* row_order;
  const UpdateWindow* windows;
  const CsrPiece* pieces;
  const CsrSplit* splits;
  unsigned* taken;    ///< counter of dynamically assigned items
  unsigned* done;     ///< counter of finished blocks
  unsigned* arrived;  ///< arrived pieces of each split
  Sum* partials;      ///< [piece][slice][lane of the warp][element]
  int piece_count, item_count, slices;
  const Dense* b;
  Dense* z;  ///< null: not requested
  std::int64_t ldb, ldz, n;
  WeightSource weights;
  UpdateResult result;
  /// steps of products, groups of columns of C, distance between rows of a window
  int steps, groups, stride;
};

/// A warp's shared memory in addition to its window.
template <class Sum, int kLanes>
struct alignas(16) WarpStage {
  static constexpr int kGroups = 32 / kLanes, kChunk = kLanes < 32 ? 16 : 32;
  StagedEntry<Sum> entries[kGroups][kChunk];
  std::int32_t ends[kWindowRows + 2];  ///< ends of rows, relative to the first entry of the window
  std::int32_t rows[kWindowRows];      ///< output rows; -1: none
};

template <class TaskT, int kLanes, bool kAligned>
class FusedWarp {
 public:
  using Task = TaskT;
  using Math = typename Task::Math;
  using Sum = typename Math::Sum;
  using Dense = typename Task::Dense;
  using Columns = LaneColumns<Dense, kLanes, kAligned>;
  using Stage = WarpStage<Sum, kLanes>;
  static_assert(sizeof(Stage) <= kWarpStageBytes);
  static constexpr int kVector = Columns::kVector, kGroups = Stage::kGroups, kChunk = Stage::kChunk;
  static constexpr int kUnroll = FusedUpdatePolicy{}.rows_in_flight;

  __device__ FusedWarp(const Task& task, Stage& stage, Sum* window, const typename Math::Weights* weights)
      : a_(task),
        stage_(stage),
        window_(window),
        weights_(weights),
        lane_(static_cast<int>(threadIdx.x) % 32 % kLanes),
        group_(static_cast<int>(threadIdx.x) % 32 / kLanes) {}

  __device__ void run(int item) {
    const bool piece = item < a_.piece_count;
    if (piece)
      begin_piece(item);
    else
      begin_window(item - a_.piece_count);
    __syncwarp();
    for (int slice = 0; slice < a_.slices; ++slice) accumulate(item, piece, slice);
    __syncwarp();
    if (piece && !finish_split(item)) return;
    update();
    __syncwarp();
  }

  /// Clears the columns after the end of rows of a window: their weights are zero, but stale memory may
  /// contain NaN.
  __device__ void clear_ends() const {
    const int from = static_cast<int>(a_.n), width = a_.stride - from;
    for (int i = static_cast<int>(threadIdx.x) % 32; i < kWindowRows * width; i += 32)
      window_[i / width * a_.stride + from + i % width] = Sum(0);
  }

 private:
  /// Rows that a group sums: complete rows of the window, or its share of a piece.
  struct Share {
    std::int64_t first = 0;  ///< first entry
    int entries = 0;
    int row = 0, last = 0;  ///< rows of the window
  };

  __device__ std::int32_t place(std::int32_t row) const { return caller_row(a_.row_order, row); }

  __device__ void begin_window(int number) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const UpdateWindow window = a_.windows[number];
    if (lane <= window.rows)
      stage_.ends[lane] = static_cast<std::int32_t>(a_.row_ptr[window.row + lane] - window.entry);
    if (lane < kWindowRows) stage_.rows[lane] = lane < window.rows ? place(window.row + lane) : -1;
    __syncwarp();
    // Assigns adjacent rows with about equal numbers of entries to groups: rows whose middle is in the share.
    const int entries = stage_.ends[window.rows];
    int row = 0, last = 0;
    for (int r = 0; r < window.rows; ++r) {
      const int middle = (stage_.ends[r] + stage_.ends[r + 1]) * kGroups;
      row += middle < 2 * group_ * entries ? 1 : 0;
      last += middle < 2 * (group_ + 1) * entries ? 1 : 0;
    }
    if (group_ == kGroups - 1) last = window.rows;
    share_ = {window.entry + stage_.ends[row], stage_.ends[last] - stage_.ends[row], row, last};
  }

  __device__ void begin_piece(int number) {
    const CsrPiece piece = a_.pieces[number];
    const auto bound = [&](int group) {
      return static_cast<int>(static_cast<std::int64_t>(piece.entries) * group / kGroups);
    };
    share_ = {piece.entry + bound(group_), bound(group_ + 1) - bound(group_), group_, group_ + 1};
    if (lane_ == 0) stage_.ends[group_] = bound(group_);
    if (lane_ == 0 && group_ == kGroups - 1) stage_.ends[kGroups] = piece.entries;
  }

  __device__ Sum* partial(std::int64_t piece, int slice) const {
    const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
    return a_.partials + (part_index(piece, 1, 0, a_.slices, slice) * kWarpSize + lane) * kVector;
  }

  /// Writes a finished row of the window, or the sum of a piece.
  __device__ void write(int item, bool piece, int slice, const Columns& columns, int row,
                        const Sum (&sum)[kVector]) const {
    if (!piece) return keep(columns, row, sum);
    store_partial(partial(item, slice), sum);
  }

  /// Stores a row of Z for the multiplication and, if requested, to memory.
  __device__ void keep(const Columns& columns, int row, const Sum (&sum)[kVector]) const {
    Sum* const to = window_ + row * a_.stride + columns.first;
#pragma unroll
    for (int e = 0; e < kVector; ++e)
      if (e * Columns::kStep <= columns.last) to[e * Columns::kStep] = sum[e];
    if (a_.z != nullptr) columns.store(a_.z + stage_.rows[row] * a_.ldz + columns.first, sum, Sum(1), Sum(0));
  }

  __device__ void accumulate(int item, bool piece, int slice) {
    const Columns columns(lane_, slice, a_.n);
    const Dense* const b = a_.b + columns.first;
    Sum sum[kVector] = {};
    int row = share_.row, end = 0;
    const int origin = stage_.ends[row];
    const auto end_of = [&] { return row < share_.last ? stage_.ends[row + 1] - origin : INT_MAX; };
    // Called when the nonzeros before `k` have been added.
    const auto end_rows = [&](int k) {
      while (end == k) {
        write(item, piece, slice, columns, row, sum);
#pragma unroll
        for (int e = 0; e < kVector; ++e) sum[e] = Sum(0);
        ++row;
        end = end_of();
      }
    };
    const auto begin_rows = [&] {
      end = end_of();
      end_rows(0);
    };
    const auto load = [&](int k, StagedEntry<Sum>& entry) {
      entry.column = load_once(a_.columns + share_.first + k);
      entry.value = read_as<Sum>(a_.value_type, a_.values, share_.first + k);
    };
    const auto stage = [&](int /*base*/, int at, const StagedEntry<Sum>& entry) {
      stage_.entries[group_][at] = entry;
    };
    const auto use = [&](int base, int here, int count) {
      for (int j = 0; j < count; j += kUnroll) {
        typename Columns::Raw rows[kUnroll];
        Sum value[kUnroll];
#pragma unroll
        for (int u = 0; u < kUnroll; ++u) {
          const StagedEntry<Sum> entry = stage_.entries[group_][j + u];
          value[u] = entry.value;
          // Products past the last nonzero are added to a sum that is never written.
          if (j + u < here) rows[u] = columns.load(b + entry.column * a_.ldb);
        }
        const int before = base + j;
        const bool ends = !__all_sync(kFullMask, end > before + kUnroll);
#pragma unroll
        for (int u = 0; u < kUnroll; ++u) {
#pragma unroll
          for (int e = 0; e < kVector; ++e) sum[e] += value[u] * widen(rows[u].x[e]);
          if (ends) end_rows(before + u + 1);
        }
      }
    };
    walk_staged<StagedEntry<Sum>, kLanes, kChunk>(share_.entries, lane_, load, stage, begin_rows, use);
  }

  /// Returns false while other pieces of the row are unfinished; otherwise adds them in order and stores the
  /// row as the only one of a window. The adding warp varies, the order does not.
  __device__ bool finish_split(int item) {
    const std::int32_t index = a_.pieces[item].split;
    const CsrSplit split = a_.splits[index];
    const int lane = static_cast<int>(threadIdx.x) % 32;
    if (!warp_arrives_last(a_.arrived + index, split.pieces, lane)) return false;
    if (lane < kWindowRows) stage_.rows[lane] = lane == 0 ? place(split.row) : -1;
    __syncwarp();
    for (int slice = 0; slice < a_.slices; ++slice) {
      Sum sum[kVector] = {};
#pragma unroll 4
      for (std::int32_t p = 0; p < split.pieces; ++p) add_partial(sum, partial(split.first_piece + p, slice));
#pragma unroll
      for (int e = 0; e < kVector; ++e)
        sum[e] = reduce_lanes<kWarpSize / kLanes, Butterfly::kNearFirst, kLanes>(sum[e]);
      if (group_ == 0) keep(Columns(lane_, slice, a_.n), 0, sum);
    }
    __syncwarp();
    return true;
  }

  /// Computes the window's rows of C.
  __device__ void update() const {
    const int g = static_cast<int>(threadIdx.x) % 32 / 4;
    const std::int32_t rows[2] = {stage_.rows[g], stage_.rows[g + 8]};
    for (int group = 0; group < a_.groups; ++group) {
      UpdateSums<Math> acc = {};
      form_rows<Math>(acc, rows, window_, a_.stride, weights_ + group * 128, a_.groups * 128, a_.steps);
#pragma unroll
      for (int h = 0; h < 2; ++h)
        if (rows[h] >= 0) write_row<Math>(a_.result, acc, h, rows[h], group * kColumnGroup);
    }
  }

  const Task& a_;
  Stage& stage_;
  Sum* window_;
  const typename Math::Weights* weights_;
  int lane_, group_;  ///< index in the group of lanes that share rows, and of the group
  Share share_;
};

/// Persistent blocks run until no item is left. The first items are assigned statically, so that few of them
/// are spread over all multiprocessors; warps then take further ones dynamically.
template <class Task, int kLanes, bool kAligned, int kThreads>
__global__ void __launch_bounds__(kThreads, 2) fused_update(const __grid_constant__ Task task) {
  using Warp = FusedWarp<Task, kLanes, kAligned>;
  using Math = typename Task::Math;
  follow_previous_kernel();
  auto* const weights = dynamic_shared_at<typename Math::Weights>(0);
  stage_weights<typename Task::Dense, Math>(weights, task.weights, 0, task.steps, 0, task.groups);
  const int warps = static_cast<int>(blockDim.x) / 32, warp = static_cast<int>(threadIdx.x) / 32;
  auto* const windows = reinterpret_cast<typename Math::Sum*>(weights + task.steps * task.groups * 128);
  const int window_size = kWindowRows * task.stride;
  auto* const stages = reinterpret_cast<std::byte*>(windows + warps * window_size);
  Warp worker(task, *reinterpret_cast<typename Warp::Stage*>(stages + warp * kWarpStageBytes),
              windows + warp * window_size, weights);
  worker.clear_ends();
  __syncthreads();
  int item = warp * static_cast<int>(gridDim.x) + static_cast<int>(blockIdx.x);
  while (item < task.item_count) {
    unsigned next = 0;
    if (threadIdx.x % 32 == 0) next = atomicAdd(task.taken, 1u);
    worker.run(item);
    item = static_cast<int>(__shfl_sync(kFullMask, next, 0) + gridDim.x * static_cast<unsigned>(warps));
  }
  __syncthreads();
  if (threadIdx.x == 0 && thread_arrives_last(task.done, static_cast<std::int32_t>(gridDim.x)))
    *task.taken = 0;
}

}  // namespace sptile::runtime::cuda
