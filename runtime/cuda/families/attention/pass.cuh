// Attention in one pass over the entries, for rows that fit in one slice of 16-byte pieces. A group of lanes
// processes eight entries at a time:
// - Their rows of Y and V are loaded together.
// - Each lane ends with the dot product of one entry, so that its exponential is computed once.
// - The maximum of the new scores of a row is known before the first is added, so that the sums are rescaled
//   at most once per eight entries.
// Runs of short rows are processed in the same way: each lane stores the row of its entry, and a row is
// written at the first entry of the next one. forward.cuh handles the remaining cases: rows of any length and
// alignment, and f64.
#pragma once

#include <climits>
#include <cstdint>

#include "runtime/cuda/collective/csr_walk.cuh"
#include "runtime/cuda/device/start_kernel.cuh"
#include "runtime/cuda/families/attention/task.cuh"

namespace sptile::runtime::cuda {

/// Rows that an entry loads.
enum class PassRows {
  apart,    ///< a row of Y and one of V
  tied,     ///< a single row for both
  additive  ///< a number and a row of V
};

template <class MathT, int kLanesT, PassRows kRowsT>
struct PassShape {
  using Math = MathT;
  using Dense = typename Math::Dense;
  using Result = typename Math::Result;
  using Chunk = typename Math::Chunk;
  static constexpr int kLanes = kLanesT;
  static constexpr PassRows kRows = kRowsT;
  static constexpr int kElements = Math::kElements;
  using State = SoftmaxState<BinaryExponential, float, kElements>;
  /// Blocks per multiprocessor, limited by registers for the rows of eight entries.
  static constexpr int kBlocks =
      kRows == PassRows::apart ? AttentionPolicy{}.pass_separate_blocks : AttentionPolicy{}.pass_blocks;
};

inline constexpr int kTaken = 8;  ///< entries per step

template <class S>
class AttentionPass {
  using Math = typename S::Math;
  using Dense = typename S::Dense;
  using Chunk = typename S::Chunk;
  static constexpr int kLanes = S::kLanes, kElements = S::kElements;
  static constexpr bool kScored = S::kRows != PassRows::additive;  ///< scores are products of rows
  static constexpr int kStage = kLanes < 32 ? 16 : 32;             ///< entries per stage

 public:
  struct Shared {
    alignas(16) std::int32_t column[kStage];
    std::int32_t row[kStage];  ///< index in the run
    float bias[kStage];
    RowEnd ends[kMaxRunRows + 1];
    float square[kMaxRunRows];  ///< squared lengths of rows of X, or their numbers
    Chunk x[kScored ? kMaxRunRows : 1][kLanes];
  };

  __device__ AttentionPass(const AttentionTask& task, Shared& shared, int lane, int item, int head)
      : task_(task),
        shared_(shared),
        lane_(lane),
        entry_(lane % kTaken),
        item_(item),
        head_(head),
        y_(rows_of(kAttentionY) + lane * 16),
        v_(rows_of(kAttentionV) + lane * 16),
        scale_(kLog2E * static_cast<float>(task.alpha)),
        n_left_(static_cast<int>(task.n) - lane * kElements),
        m_left_(static_cast<int>(task.m) - lane * kElements) {}

  __device__ void run() {
    const CsrWork work =
        load_item<kLanes>(task_, item_, shared_.ends, lane_, [&](std::int32_t row) { return place(row); });
    for (int r = work.rows + 1 + lane_; r <= kMaxRunRows; r += kLanes) shared_.ends[r].end = INT_MAX;
    __syncwarp();
    keep_rows(work);
    __syncwarp();
    x_ = shared_.x[0][kScored ? lane_ : 0];
    const auto load = [&](int k, Staged& entry) { load_entry(work.first + k, entry); };
    const auto stage = [&](int base, int at, const Staged& entry) { stage_entry(work, base, at, entry); };
    const auto use = [&](int base, int /*here*/, int count) {
      for (int j = 0; j < count; j += kTaken) take(work, base + j, j);
    };
    walk_staged<Staged, kLanes, kStage>(
        work.entries, lane_, load, stage, [] {}, use);
    if (work.piece)
      state_.template store<kLanes>(partial(item_));
    else
      end_rows(work.rows);
    if (__any_sync(kFullMask, work.piece)) finish_split(work);
  }

 private:
  __device__ std::byte* rows_of(int operand) const {
    const DenseRows& rows = task_.dense[operand];
    return rows.data + head_ * rows.batch;
  }
  __device__ std::int32_t place(std::int32_t row) const { return caller_row(task_.row_order, row); }

  /// Loads the run's rows of X and their squared lengths, or the numbers of additive scores.
  __device__ void keep_rows(const CsrWork& work) {
    const int most = __reduce_max_sync(kFullMask, work.rows);
    for (int r = 0; r < most; ++r) {
      const bool there = r < work.rows;
      const std::byte* const x =
          rows_of(kAttentionX) + (there ? shared_.ends[r].row : 0) * task_.dense[kAttentionX].stride;
      float square = 0;
      if constexpr (kScored) {
        Chunk chunk = {};
        if (there) load_chunk<true>(chunk, reinterpret_cast<const Dense*>(x + lane_ * 16), n_left_);
        if (there) shared_.x[r][lane_] = chunk;
        if (task_.score == Score::cosine) {
          square = reduce_lanes<kLanes>(dot<Math>(chunk, chunk));
        }
      } else if (there) {
        square = number_at<Dense>(x, 0);
      }
      if (there && lane_ == 0) shared_.square[r] = square;
    }
  }

  struct Staged {
    std::int32_t column = 0;
    float bias = 0;
  };
  __device__ void load_entry(std::int64_t k, Staged& entry) const {
    entry.column = load_once(task_.columns + k);
    if (task_.dense[kAttentionBias].data != nullptr)
      entry.bias = number_at<Dense>(rows_of(kAttentionBias), k);
  }
  __device__ void stage_entry(const CsrWork& work, int base, int at, const Staged& entry) {
    shared_.column[at] = entry.column;
    shared_.bias[at] = entry.bias;
    int row = 0;
#pragma unroll
    for (int r = 0; r < kMaxRunRows; ++r) row += shared_.ends[r].end <= base + at ? 1 : 0;
    shared_.row[at] = min(row, max(work.rows - 1, 0));
  }

  /// Rows of up to eight entries; missing ones are unspecified.
  struct Rows {
    Chunk y[S::kRows == PassRows::apart ? kTaken : 1];
    Chunk v[kTaken];
  };
  __device__ __forceinline__ const Chunk& y_of(const Rows& rows, int u) const {
    return S::kRows == PassRows::apart ? rows.y[S::kRows == PassRows::apart ? u : 0] : rows.v[u];
  }

  __device__ __forceinline__ Rows load(int left, int j) const {
    std::int32_t column[kTaken];
#pragma unroll
    for (int i = 0; i < kTaken; i += 4) {
      const int4 four = *reinterpret_cast<const int4*>(shared_.column + j + i);
      column[i] = four.x;
      column[i + 1] = four.y;
      column[i + 2] = four.z;
      column[i + 3] = four.w;
    }
    Rows rows;
    if constexpr (S::kRows == PassRows::apart)
#pragma unroll
      for (int u = 0; u < kTaken; ++u)
        load_chunk<true>(rows.y[u], row_at(y_, kAttentionY, column[u]), u < left ? n_left_ : 0);
#pragma unroll
    for (int u = 0; u < kTaken; ++u)
      load_chunk<true>(rows.v[u], row_at(v_, kAttentionV, column[u]), u < left ? m_left_ : 0);
    return rows;
  }
  __device__ __forceinline__ const Dense* row_at(const std::byte* first, int operand,
                                                 std::int32_t column) const {
    return reinterpret_cast<const Dense*>(first + column * task_.dense[operand].stride);
  }

  /// Processes entries `done` to done + 7 of the run, which are in shared memory from index j.
  __device__ __forceinline__ void take(const CsrWork& work, int done, int j) {
    const int left = work.entries - done;
    const Rows rows = load(left, j);
    // True if all entries belong to the current row.
    const bool one_row = left <= 0 || shared_.row[j + min(left, kTaken) - 1] == row_;
    if (__all_sync(kFullMask, one_row))
      take_row(rows, left, j);
    else
      take_rows(rows, left, j);
  }

  /// Processes entries of the current row.
  __device__ __forceinline__ void take_row(const Rows& rows, int left, int j) {
    const float score = scored(
        rows, left, j, [&](int) { return x_; }, row_);
    state_.rescale(fmaxf(state_.maximum, reduce_lanes<kTaken>(score, MaximumNumber())));
    add(rows, state_.weight_of(score), left);
  }
  __device__ __forceinline__ void add(const Rows& rows, float weight, int left) {
#pragma unroll
    for (int u = 0; u < kTaken; ++u) {
      const float one = __shfl_sync(kFullMask, weight, u, kLanes);
      if (u < left) add_entry(rows.v[u], one);
    }
  }
  __device__ __forceinline__ void add_entry(const Chunk& v, float weight) {
    state_.add(weight, [&](int e) { return chunk_at<Math>(v, e); });
  }

  /// Processes entries of several rows.
  __device__ void take_rows(const Rows& rows, int left, int j) {
    const int row = shared_.row[j + entry_];
    const float score = scored(
        rows, left, j, [&](int u) { return shared_.x[shared_.row[j + u]][kScored ? lane_ : 0]; }, row);
    float most = row == row_ ? state_.maximum : masked<float>();
#pragma unroll
    for (int u = 0; u < kTaken; ++u) {
      const float other = __shfl_sync(kFullMask, score, u, kLanes);
      if (shared_.row[j + u] == row) most = fmaxf(most, other);
    }
    const float weight = exp2f(score - shift_of(most));
    const float first = __shfl_sync(kFullMask, most, 0, kLanes);
    if (left > 0 && shared_.row[j] == row_) state_.rescale(first);
#pragma unroll
    for (int u = 0; u < kTaken; ++u) {
      const float one = __shfl_sync(kFullMask, weight, u, kLanes),
                  largest = __shfl_sync(kFullMask, most, u, kLanes);
      if (u >= left) continue;
      if (shared_.row[j + u] != row_) {
        end_rows(shared_.row[j + u]);
        state_.maximum = largest;
      }
      add_entry(rows.v[u], one);
    }
  }

  /// Returns the score of the lane's entry, times log2(e), or masked past the last entry. `x` returns the row
  /// of X of each entry, `row` is the index of the entry's row in the run.
  template <class RowOfX>
  __device__ __forceinline__ float scored(const Rows& rows, int left, int j, RowOfX x, int row) const {
    float score = 0;
    if constexpr (kScored) {
      float product[kTaken];
#pragma unroll
      for (int u = 0; u < kTaken; ++u) product[u] = n_left_ > 0 ? dot<Math>(x(u), y_of(rows, u)) : 0;
      score = sum_of_entry(product);
      if (task_.score == Score::cosine) {
#pragma unroll
        for (int u = 0; u < kTaken; ++u)
          product[u] = n_left_ > 0 ? dot<Math>(y_of(rows, u), y_of(rows, u)) : 0;
        score *= inverse_length(sum_of_entry(product)) * inverse_length(shared_.square[row]);
      }
    } else if (entry_ < left) {
      const float both =
          shared_.square[row] +
          number_at<Dense>(
              rows_of(kAttentionY) + shared_.column[j + entry_] * task_.dense[kAttentionY].stride, 0);
      score = both > 0 ? both : static_cast<float>(task_.slope) * both;
    }
    return entry_ < left ? scale_ * score + kLog2E * shared_.bias[j + entry_] : masked<float>();
  }
  __device__ __forceinline__ static float inverse_length(float square) {
    return 1 / fmaxf(sqrtf(square), static_cast<float>(kMinLength));
  }

  /// Adds eight numbers of each lane over the group and returns the sum of the lane's nonzero.
  __device__ __forceinline__ float sum_of_entry(float (&x)[kTaken]) const {
    reduce_transposed<Butterfly::kFarFirst>(x, lane_);
    return reduce_lanes<kLanes / kTaken, Butterfly::kNearFirst, kTaken>(x[0]);
  }

  /// Writes the current row and the following empty ones up to `next`, which becomes the current row.
  __device__ __forceinline__ void end_rows(int next) {
    while (row_ < next) {
      write(shared_.ends[row_].row);
      state_.reset();
      ++row_;
    }
    if constexpr (kScored)
      if (row_ < kMaxRunRows) x_ = shared_.x[row_][lane_];
  }

  __device__ __forceinline__ void write(std::int64_t row) const {
    const Scale<float> inverse{inverse_of(state_.sum), 0};
    std::byte* const to = rows_of(kAttentionOut) + row * task_.dense[kAttentionOut].stride;
    store_piece<true>(reinterpret_cast<typename S::Result*>(to) + lane_ * kElements, state_.out, inverse,
                      m_left_);
    if (lane_ != 0 || task_.dense[kAttentionStatistics].data == nullptr) return;
    auto* const statistics = reinterpret_cast<float*>(rows_of(kAttentionStatistics) +
                                                      row * task_.dense[kAttentionStatistics].stride);
    statistics[kMaximum] = kLn2 * shift_of(state_.maximum);
    statistics[kInverseSum] = inverse.alpha;
  }

  __device__ std::int64_t index_of(std::int64_t i) const { return part_index(i, task_.heads, head_, 1, 0); }
  __device__ float* partial(std::int64_t piece) const {
    constexpr int kNumbers = kLanes * S::State::kNumbers;
    return reinterpret_cast<float*>(task_.partials) + index_of(piece) * kNumbers + lane_;
  }

  /// Merges the segments of a row in order if this segment is the last to arrive.
  __device__ void finish_split(const CsrWork& work) {
    CsrSplit split;
    const auto index = [&](std::int64_t i) { return index_of(i); };
    if (!is_last_segment<kLanes>(task_, work, item_, lane_, index, split)) return;
    state_.reset();
#pragma unroll 4
    for (std::int32_t p = 0; p < split.pieces; ++p)
      state_.template merge<kLanes>(partial(split.first_piece + p));
    write(place(split.row));
  }

  const AttentionTask& task_;
  Shared& shared_;
  const int lane_, entry_, item_, head_;
  const std::byte* const y_;  ///< row 0 at the lane's first column
  const std::byte* const v_;
  const float scale_;
  const int n_left_, m_left_;  ///< columns from the lane's first one
  Chunk x_;                    ///< part of the current row of X
  int row_ = 0;                ///< index of the current row in the run
  typename S::State state_ = {masked<float>(), 0, {}};
};

inline constexpr int kPassThreads = AttentionPolicy{}.pass_threads;

/// Pieces are first, because they are the longest items.
template <class S>
__global__ void __launch_bounds__(kPassThreads, S::kBlocks)
    attention_pass(const __grid_constant__ AttentionTask task) {
  constexpr int kGroups = kPassThreads / S::kLanes;
  __shared__ typename AttentionPass<S>::Shared shared[kGroups];
  follow_previous_kernel();
  const int thread = static_cast<int>(threadIdx.x), group = thread / S::kLanes;
  const std::int64_t number = std::int64_t{blockIdx.x} * kGroups + group;
  const std::int64_t item = task.beside ? number / task.heads : number % task.item_count;
  const std::int64_t head = task.beside ? number % task.heads : number / task.item_count;
  const bool there = number < std::int64_t{task.item_count} * task.heads;
  AttentionPass<S>(task, shared[group], thread % S::kLanes, there ? static_cast<int>(item) : task.item_count,
                   there ? static_cast<int>(head) : 0)
      .run();
}

}  // namespace sptile::runtime::cuda
