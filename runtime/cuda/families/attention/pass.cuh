// Attention in one pass over the entries, for rows that one slice holds and 16-byte pieces. A group of lanes
// takes eight entries at a time:
//   - their rows of Y and V are fetched together;
//   - each lane is left with the dot product of one entry, so that its exponential is made once;
//   - the largest score of what the entries add to a row is known before the first of them is added, so that
//     what is there is scaled down at most once for eight entries.
// Runs of short rows go the same way: each lane knows the row of its entry, and a row is written when an
// entry of the next one comes. forward.cuh does what is left: rows of any length and alignment, and f64.
#pragma once

#include <climits>
#include <cstdint>

#include "runtime/cuda/device/split.cuh"
#include "runtime/cuda/families/attention/task.cuh"
#include "runtime/cuda/families/csr/body.cuh"

namespace sptile::runtime::cuda {

/// What an entry brings.
enum class PassRows {
  apart,    ///< a row of Y and one of V
  tied,     ///< one row that is both
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
  static constexpr int kPartial = kElements + 2;  ///< numbers that a lane leaves behind for a piece
  /// Blocks of a multiprocessor: registers for the rows of eight entries, and what else there is.
  static constexpr int kBlocks = kRows == PassRows::apart ? 4 : 5;
};

inline constexpr int kTaken = 8;  ///< entries that are taken together

template <class S>
class AttentionPass {
  using Math = typename S::Math;
  using Dense = typename S::Dense;
  using Chunk = typename S::Chunk;
  static constexpr int kLanes = S::kLanes, kElements = S::kElements;
  static constexpr bool kScored = S::kRows != PassRows::additive;  ///< by products of rows
  static constexpr int kStage = kLanes < 32 ? 16 : 32;             ///< entries that are read at a time
  static constexpr int kPerLane = kStage / kLanes;

 public:
  struct Shared {
    alignas(16) std::int32_t column[kStage];
    std::int32_t row[kStage];  ///< of the run
    float bias[kStage];
    RowEnd ends[kMaxRunRows + 1];
    float square[kMaxRunRows];  ///< of rows of X, or their numbers
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
    const CsrWork work = begin();
    keep_rows(work);
    __syncwarp();
    x_ = shared_.x[0][kScored ? lane_ : 0];
    Staged next[kPerLane] = {};
    fetch(work, 0, next);
    const int most = kLanes == 32 ? work.entries : __reduce_max_sync(kFullMask, work.entries);
    for (int base = 0; base < most; base += kStage) {
      stage(work, base, next);
      fetch(work, base + kStage, next);
      const int here = min(kStage, most - base);
      for (int j = 0; j < here; j += kTaken) take(work, base + j, j);
    }
    if (work.piece)
      leave();
    else
      end_rows(work.rows);
    if (__any_sync(kFullMask, work.piece)) finish_split(work);
  }

 private:
  __device__ std::byte* rows_of(int operand) const {
    const DenseRows& rows = task_.dense[operand];
    return rows.data + head_ * rows.batch;
  }
  __device__ std::int32_t place(std::int32_t row) const {
    return task_.row_order != nullptr ? task_.row_order[row] : row;
  }

  /// Reads the item, where its rows end and where they go.
  __device__ CsrWork begin() {
    CsrWork work;
    if (item_ < task_.piece_count) {
      const CsrPiece piece = task_.pieces[item_];
      work = {piece.entry, piece.entries, 1, true};
      if (lane_ == 0) shared_.ends[0] = {piece.entries, place(task_.splits[piece.split].row)};
    } else if (item_ < task_.item_count) {
      const CsrRun run = task_.runs[item_ - task_.piece_count];
      work = {run.entry, static_cast<int>(run.entries_and_rows >> 8),
              static_cast<int>(run.entries_and_rows & 0xFF), false, run.row};
      for (int r = lane_; r < work.rows; r += kLanes)
        shared_.ends[r] = {static_cast<std::int32_t>(task_.row_ptr[run.row + r + 1] - run.entry),
                           place(run.row + r)};
    }
    for (int r = work.rows + lane_; r <= kMaxRunRows; r += kLanes) shared_.ends[r] = {INT_MAX, 0};
    __syncwarp();
    return work;
  }

  /// Keeps the rows of X of the run, and their squares; of additive scores their numbers.
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
  __device__ void fetch(const CsrWork& work, int base, Staged (&next)[kPerLane]) const {
#pragma unroll
    for (int i = 0; i < kPerLane; ++i) {
      const int k = base + lane_ + i * kLanes;
      if (k >= work.entries) continue;
      next[i].column = load_once(task_.columns + work.first + k);
      if (task_.dense[kAttentionBias].data != nullptr)
        next[i].bias = number_at<Dense>(rows_of(kAttentionBias), work.first + k);
    }
  }
  __device__ void stage(const CsrWork& work, int base, const Staged (&next)[kPerLane]) {
    __syncwarp();
#pragma unroll
    for (int i = 0; i < kPerLane; ++i) {
      const int k = lane_ + i * kLanes;
      shared_.column[k] = next[i].column;
      shared_.bias[k] = next[i].bias;
      int row = 0;
#pragma unroll
      for (int r = 0; r < kMaxRunRows; ++r) row += shared_.ends[r].end <= base + k ? 1 : 0;
      shared_.row[k] = min(row, max(work.rows - 1, 0));
    }
    __syncwarp();
  }

  /// Rows of up to eight entries; what is not there may be anything.
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

  /// Takes entries `done` to done + 7 of the run, which are number j and on of those in shared memory.
  __device__ __forceinline__ void take(const CsrWork& work, int done, int j) {
    const int left = work.entries - done;
    const Rows rows = load(left, j);
    // A row in hand, and all entries are of it?
    const bool one_row = left <= 0 || shared_.row[j + min(left, kTaken) - 1] == row_;
    if (__all_sync(kFullMask, one_row))
      take_row(rows, left, j);
    else
      take_rows(rows, left, j);
  }

  /// Entries of the row in hand.
  __device__ __forceinline__ void take_row(const Rows& rows, int left, int j) {
    const float score = scored(
        rows, left, j, [&](int) { return x_; }, row_);
    raise(reduce_lanes<kTaken>(score, MaximumNumber()));
    add(rows, exp2f(score - shift_of(maximum_)), left);
  }
  __device__ __forceinline__ void raise(float most) {
    const float larger = fmaxf(maximum_, most);
    scale_by(exp2f(maximum_ - shift_of(larger)));
    maximum_ = larger;
  }
  __device__ __forceinline__ void scale_by(float factor) {
    sum_ *= factor;
#pragma unroll
    for (int e = 0; e < kElements; ++e) out_[e] *= factor;
  }
  __device__ __forceinline__ void add(const Rows& rows, float weight, int left) {
#pragma unroll
    for (int u = 0; u < kTaken; ++u) {
      const float one = __shfl_sync(kFullMask, weight, u, kLanes);
      if (u < left) add_entry(rows.v[u], one);
    }
  }
  __device__ __forceinline__ void add_entry(const Chunk& v, float weight) {
    sum_ += weight;
#pragma unroll
    for (int e = 0; e < kElements; ++e) out_[e] += weight * chunk_at<Math>(v, e);
  }

  /// Entries of several rows.
  __device__ void take_rows(const Rows& rows, int left, int j) {
    const int row = shared_.row[j + entry_];
    const float score = scored(
        rows, left, j, [&](int u) { return shared_.x[shared_.row[j + u]][kScored ? lane_ : 0]; }, row);
    float most = row == row_ ? maximum_ : masked<float>();
#pragma unroll
    for (int u = 0; u < kTaken; ++u) {
      const float other = __shfl_sync(kFullMask, score, u, kLanes);
      if (shared_.row[j + u] == row) most = fmaxf(most, other);
    }
    const float weight = exp2f(score - shift_of(most));
    const float first = __shfl_sync(kFullMask, most, 0, kLanes);
    if (left > 0 && shared_.row[j] == row_) {
      scale_by(exp2f(maximum_ - shift_of(first)));
      maximum_ = first;
    }
#pragma unroll
    for (int u = 0; u < kTaken; ++u) {
      const float one = __shfl_sync(kFullMask, weight, u, kLanes),
                  largest = __shfl_sync(kFullMask, most, u, kLanes);
      if (u >= left) continue;
      if (shared_.row[j + u] != row_) {
        end_rows(shared_.row[j + u]);
        maximum_ = largest;
      }
      add_entry(rows.v[u], one);
    }
  }

  /// The score of the lane's entry, times log2(e): masked where there is none. `x` gives the row of X of
  /// each, `row` is the number of the entry's in the run.
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
    return 1 / fmaxf(sqrtf(square), static_cast<float>(kLeastLength));
  }

  /// Adds eight numbers of each lane over the group and returns the sum of the lane's nonzero.
  __device__ __forceinline__ float sum_of_entry(float (&x)[kTaken]) const {
    reduce_transposed<Butterfly::kFarFirst>(x, lane_);
    return reduce_lanes<kLanes / kTaken, Butterfly::kNearFirst, kTaken>(x[0]);
  }

  /// Writes the row in hand and those without entries behind it, up to `next`, which is in hand then.
  __device__ __forceinline__ void end_rows(int next) {
    while (row_ < next) {
      write(shared_.ends[row_].row);
      reset();
      ++row_;
    }
    if constexpr (kScored)
      if (row_ < kMaxRunRows) x_ = shared_.x[row_][lane_];
  }
  __device__ __forceinline__ void reset() {
    maximum_ = masked<float>();
    sum_ = 0;
#pragma unroll
    for (int e = 0; e < kElements; ++e) out_[e] = 0;
  }

  __device__ __forceinline__ void write(std::int64_t row) const {
    const Scale<float> inverse{inverse_of(sum_), 0};
    std::byte* const to = rows_of(kAttentionOut) + row * task_.dense[kAttentionOut].stride;
    store_piece<true>(reinterpret_cast<typename S::Result*>(to) + lane_ * kElements, out_, inverse, m_left_);
    if (lane_ != 0 || task_.dense[kAttentionStatistics].data == nullptr) return;
    auto* const statistics = reinterpret_cast<float*>(rows_of(kAttentionStatistics) +
                                                      row * task_.dense[kAttentionStatistics].stride);
    statistics[kMaximum] = kLn2 * shift_of(maximum_);
    statistics[kInverseSum] = inverse.alpha;
  }

  __device__ float* partial(std::int64_t piece) const {
    const std::int64_t at = piece * task_.heads + head_;
    return reinterpret_cast<float*>(task_.partials) + at * (kLanes * S::kPartial) + lane_;
  }

  /// Leaves the sums of a piece behind.
  __device__ void leave() const {
    float* const to = partial(item_);
    __stcg(to, maximum_);
    __stcg(to + kLanes, sum_);
#pragma unroll
    for (int e = 0; e < kElements; ++e) __stcg(to + (2 + e) * kLanes, out_[e]);
  }

  /// Merges the pieces of a row if this was the last of them to arrive. Which group does it varies, the order
  /// does not.
  __device__ void finish_split(const CsrWork& work) {
    const std::int32_t index = work.piece ? task_.pieces[item_].split : 0;
    const CsrSplit split = task_.splits[index];
    unsigned* const arrived = task_.arrived + std::int64_t{index} * task_.heads + head_;
    if (!warp_arrives_last<kLanes>(arrived, split.pieces, lane_, work.piece)) return;
    reset();
    for (std::int32_t p = 0; p < split.pieces; ++p) merge(partial(split.first_piece + p));
    write(place(split.row));
  }
  __device__ void merge(const float* from) {
    const float most = __ldcg(from);
    raise(most);
    const float weight = exp2f(most - shift_of(maximum_));
    // A sum without a maximum may still be NaN.
    const float by = most == masked<float>() ? 1 : weight;
    sum_ += by * __ldcg(from + kLanes);
#pragma unroll
    for (int e = 0; e < kElements; ++e) out_[e] += by * __ldcg(from + (2 + e) * kLanes);
  }

  const AttentionTask& task_;
  Shared& shared_;
  const int lane_, entry_, item_, head_;
  const std::byte* const y_;  ///< row 0 at the lane's first column
  const std::byte* const v_;
  const float scale_;
  const int n_left_, m_left_;  ///< columns from the lane's first one on
  Chunk x_;                    ///< of the row in hand
  int row_ = 0;                ///< of the run: the row in hand
  float maximum_ = masked<float>(), sum_ = 0;
  float out_[kElements] = {};
};

inline constexpr int kPassThreads = 128;

/// Pieces come first: they are the longest items.
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
