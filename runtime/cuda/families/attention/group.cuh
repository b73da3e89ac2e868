// A group of lanes walks through one run of rows, or one piece of a long row, of one head: entries wait in
// shared memory, the next ones on their way; the rows that some of them bring are fetched together, across
// the ends of rows. The groups of a warp go in step, as in csr/body.cuh. What is made of the entries, the
// derived class says:
//   static constexpr int kPartial;       numbers of Acc that a lane leaves behind for a piece
//   static constexpr AttentionSide kSide;
//   void prepare(work)                   what concerns rows, before their entries
//   void batch<kOneRow>(work, done, j)   entries j.. of those in shared memory
//   void write(work, row)                a row whose entries are all in
//   void leave(Acc* to)                  the sums of a piece; void reset() makes them those of no entries
//   void merge(const Acc* from)          adds what leave left
#pragma once

#include <climits>
#include <cstdint>

#include "runtime/cuda/device/split.cuh"
#include "runtime/cuda/families/attention/task.cuh"
#include "runtime/cuda/families/csr/body.cuh"

namespace sptile::runtime::cuda {

/// Numbers of a row that all its entries need.
template <class Acc>
struct RowNumbers {
  Acc square = {};  ///< own . own
  Acc maximum = {}, inverse = {}, delta = {};
};

template <class S, class Derived>
class AttentionGroup {
 public:
  using Math = typename S::Math;
  using Dense = typename S::Dense;
  using Acc = typename S::Acc;
  using Chunk = typename S::Chunk;
  /// Entries that are taken together: fewer where each has a row of its own, which takes registers, too.
  template <bool kOneRow>
  static constexpr int kBatch = kOneRow ? S::kUnroll : S::kUnroll / 2;
  static constexpr int kChunk = S::kLanes < 8 ? 8 : S::kLanes < 32 ? 16 : 32;  ///< entries read at a time
  static constexpr int kPerLane = kChunk / S::kLanes;

  struct Shared {
    std::int32_t column[kChunk];
    Acc bias[kChunk];
    RowEnd ends[kMaxRunRows + 1];
    RowNumbers<Acc> numbers[kMaxRunRows + 1];
  };

  __device__ AttentionGroup(const AttentionTask& task, Shared& shared, int lane, std::int64_t item, int head,
                            int slice)
      : task_(task),
        shared_(shared),
        lane_(lane),
        item_(static_cast<int>(item)),
        head_(head),
        slice_(slice) {}

  __device__ void run() {
    const CsrWork work = begin();
    self().prepare(work);
    __syncwarp();
    self().reset();
    accumulate(work);
    if (__any_sync(kFullMask, work.piece)) finish_split(work);
  }

 protected:
  /// Rows of an operand of the group's head.
  __device__ std::byte* rows_of(int operand) const {
    const DenseRows& rows = task_.dense[operand];
    return rows.data + head_ * rows.batch;
  }
  __device__ std::byte* row_of(int operand, std::int64_t row) const {
    return rows_of(operand) + row * task_.dense[operand].stride;
  }
  __device__ bool has(int operand) const { return task_.dense[operand].data != nullptr; }

  /// Slices of so many columns.
  __device__ int slices_of(std::int64_t columns) const {
    return static_cast<int>((columns + S::kColumns - 1) / S::kColumns);
  }
  /// The slice of an operand of so many columns that is kept: the group's, or any where it has none.
  __device__ int kept_slice(std::int64_t columns) const { return slice_ < slices_of(columns) ? slice_ : 0; }

  /// Columns that are left from the lane's first one of a slice on.
  __device__ int left(int slice, std::int64_t columns) const {
    return static_cast<int>(min(columns - first_column(slice), std::int64_t{S::kColumns}));
  }
  __device__ std::int64_t first_column(int slice) const {
    return std::int64_t{slice} * S::kColumns + lane_ * S::kElements;
  }

  /// Reads the lane's part of a row; zeros where there is none.
  __device__ __forceinline__ void load(Chunk& to, int operand, std::int64_t row, int slice,
                                       std::int64_t columns, bool there) const {
    to = {};
    if (there)
      load_chunk<S::kVector>(to, reinterpret_cast<const Dense*>(row_of(operand, row)) + first_column(slice),
                             left(slice, columns));
  }

  __device__ Acc statistic(int operand, std::int64_t row, int column) const {
    return number_at<Acc>(row_of(operand, row), column);
  }
  __device__ void set_statistic(int operand, std::int64_t row, int column, Acc x) const {
    reinterpret_cast<Acc*>(row_of(operand, row))[column] = x;
  }

  /// Writes scale * sum to the lane's part of a row of results.
  __device__ __forceinline__ void store(int operand, std::int64_t row, const Acc (&sum)[S::kElements],
                                        Acc scale, std::int64_t columns) const {
    std::byte* const to = row_of(operand, row);
    const Scale<Acc> by{scale, Acc{0}};
    if constexpr (sizeof(Dense) == 2)
      if (task_.wide)
        return store_piece<S::kVector>(reinterpret_cast<Acc*>(to) + first_column(slice_), sum, by,
                                       left(slice_, columns));
    store_piece<S::kVector>(reinterpret_cast<Dense*>(to) + first_column(slice_), sum, by,
                            left(slice_, columns));
  }

  /// Entries whose rows are fetched together.
  template <bool kOneRow>
  struct Entries {
    static constexpr int kCount = kBatch<kOneRow>;
    static constexpr int kRows = kOneRow ? 1 : kCount;
    std::int32_t column[kCount];
    bool there[kCount];
    int number[kRows];        ///< of their row in the run
    std::int32_t row[kRows];  ///< where it is
    [[nodiscard]] __device__ static constexpr int row_of(int u) { return kOneRow ? 0 : u; }
  };

  template <bool kOneRow>
  __device__ __forceinline__ Entries<kOneRow> entries(const CsrWork& work, int done, int j) const {
    Entries<kOneRow> these;
    int number = row_;
#pragma unroll
    for (int u = 0; u < these.kCount; ++u) {
      these.column[u] = shared_.column[j + u];
      these.there[u] = done + u < work.entries;
      if (kOneRow && u > 0) continue;
      while (shared_.ends[number].end <= done + u) ++number;
      these.number[these.row_of(u)] = number;
      these.row[these.row_of(u)] = shared_.ends[number].row;
    }
    return these;
  }

  /// Own rows and others of some entries, one slice of each.
  template <bool kOneRow>
  struct Pairs {
    Chunk own[Entries<kOneRow>::kRows], other[kBatch<kOneRow>];
  };
  template <bool kOneRow>
  __device__ __forceinline__ void load(Pairs<kOneRow>& to, const Entries<kOneRow>& these, int own, int other,
                                       int slice, std::int64_t columns) const {
#pragma unroll
    for (int u = 0; u < these.kCount; ++u)
      load(to.other[u], other, these.column[u], slice, columns, these.there[u]);
#pragma unroll
    for (int u = 0; u < these.kRows; ++u) load(to.own[u], own, these.row[u], slice, columns, these.there[u]);
  }

  /// Sums over columns of pairs: own . other, and, where they are wanted, other . other.
  template <bool kOneRow>
  struct Products {
    Acc both[kBatch<kOneRow>] = {}, squares[kBatch<kOneRow>] = {};

    template <bool kSquares>
    __device__ __forceinline__ void add(const Pairs<kOneRow>& pairs) {
#pragma unroll
      for (int u = 0; u < kBatch<kOneRow>; ++u) {
        both[u] += dot<Math>(pairs.own[kOneRow ? 0 : u], pairs.other[u]);
        if constexpr (kSquares) squares[u] += dot<Math>(pairs.other[u], pairs.other[u]);
      }
    }
  };

  /// The lane's share of the products of all slices but the kept one. Wide rows have some; they come first,
  /// as then nothing else waits in registers.
  template <bool kOneRow>
  __device__ __forceinline__ Products<kOneRow> products_beside(const Entries<kOneRow>& these, int own,
                                                               int other, std::int64_t columns) const {
    Products<kOneRow> sums;
    for (int slice = 0; slice < slices_of(columns); ++slice) {
      if (slice == kept_slice(columns)) continue;
      Pairs<kOneRow> pairs;
      load(pairs, these, own, other, slice, columns);
      sums.template add<true>(pairs);
    }
    return sums;
  }

  /// Makes the scores of pairs, and what is exponentiated. `sums` has the products of other slices.
  template <bool kOneRow>
  __device__ __forceinline__ void score(Products<kOneRow>& sums, const Pairs<kOneRow>& pairs,
                                        const Entries<kOneRow>& these, int j, int own, int other,
                                        DeviceScore<Acc> (&parts)[kBatch<kOneRow>],
                                        Acc (&scores)[kBatch<kOneRow>]) const {
    constexpr int kCount = kBatch<kOneRow>;
    if (task_.score == Score::cosine) {
      sums.template add<true>(pairs);
      reduce_both(sums.both, sums.squares);
    } else if (task_.score == Score::dot) {
      sums.template add<false>(pairs);
      reduce_each<S::kLanes>(sums.both, lane_);
    } else {
#pragma unroll
      for (int u = 0; u < kCount; ++u)
        if (these.there[u])
          sums.both[u] = first_of(own, these.row[these.row_of(u)]) + first_of(other, these.column[u]);
    }
#pragma unroll
    for (int u = 0; u < kCount; ++u) {
      const Acc square = shared_.numbers[these.number[these.row_of(u)]].square;
      parts[u] = score_of(task_.score, sums.both[u], square, sums.squares[u], static_cast<Acc>(task_.slope));
      scores[u] = these.there[u] ? static_cast<Acc>(task_.alpha) * parts[u].score + shared_.bias[j + u]
                                 : masked<Acc>();
    }
  }

  /// Adds both across the group, in fewer steps than one after the other.
  template <int kCount>
  __device__ __forceinline__ void reduce_both(Acc (&x)[kCount], Acc (&y)[kCount]) const {
    Acc both[2 * kCount];
#pragma unroll
    for (int u = 0; u < kCount; ++u) {
      both[u] = x[u];
      both[kCount + u] = y[u];
    }
    reduce_each<S::kLanes>(both, lane_);
#pragma unroll
    for (int u = 0; u < kCount; ++u) {
      x[u] = both[u];
      y[u] = both[kCount + u];
    }
  }

  /// The first number of a row.
  __device__ __forceinline__ Acc first_of(int operand, std::int64_t row) const {
    return number_at<Dense>(row_of(operand, row), 0);
  }

  /// Adds the product of two of a row's own, all of it, across the group.
  __device__ __forceinline__ Acc own_product(const CsrWork& work, int number, int x, int y,
                                             std::int64_t columns) const {
    const bool there = number < work.rows;
    const std::int64_t row = there ? shared_.ends[number].row : 0;
    Acc sum[1] = {};
    for (int slice = 0; slice < slices_of(columns); ++slice) {
      Chunk a, b;
      load(a, x, row, slice, columns, there);
      load(b, y, row, slice, columns, there);
      sum[0] += dot<Math>(a, b);
    }
    reduce_each<S::kLanes>(sum, lane_);
    return sum[0];
  }

  /// Rows of the warp's longest run.
  __device__ static int most_rows(const CsrWork& work) { return __reduce_max_sync(kFullMask, work.rows); }

  /// Called when the entries before `k` are in: hands in the row that ends there and empty ones behind it.
  __device__ void end_rows(const CsrWork& work, int k) {
    while (end_ == k) {
      write(work);
      self().reset();
      end_ = shared_.ends[++row_].end;
    }
  }

  const AttentionTask& task_;
  Shared& shared_;
  const int lane_, item_, head_, slice_;
  int row_ = 0, end_ = 0;  ///< of the run: the row whose entries come in, and where it ends

 private:
  __device__ Derived& self() { return static_cast<Derived&>(*this); }

  __device__ std::int32_t place(std::int32_t row) const {
    return task_.row_order != nullptr ? task_.row_order[row] : row;
  }

  /// Reads the item and where its rows end.
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
      for (int r = lane_; r < work.rows; r += S::kLanes)
        shared_.ends[r] = {static_cast<std::int32_t>(task_.row_ptr[run.row + r + 1] - run.entry),
                           place(run.row + r)};
    }
    if (lane_ == 0) shared_.ends[work.rows] = {INT_MAX, 0};
    __syncwarp();
    return work;
  }

  struct Staged {
    std::int32_t column = 0;
    Acc bias = {};
  };
  __device__ void fetch(const CsrWork& work, int base, Staged (&next)[kPerLane]) const {
#pragma unroll
    for (int i = 0; i < kPerLane; ++i) {
      const int k = base + lane_ + i * S::kLanes;
      if (k >= work.entries) continue;
      next[i].column = load_once(task_.columns + work.first + k);
      if (has(kAttentionBias)) next[i].bias = number_at<Dense>(rows_of(kAttentionBias), work.first + k);
    }
  }
  __device__ void stage(const Staged (&next)[kPerLane]) {
    __syncwarp();
#pragma unroll
    for (int i = 0; i < kPerLane; ++i) {
      shared_.column[lane_ + i * S::kLanes] = next[i].column;
      shared_.bias[lane_ + i * S::kLanes] = next[i].bias;
    }
    __syncwarp();
  }

  __device__ __forceinline__ void add_batch(const CsrWork& work, int done, int j) {
    if constexpr (S::kOneRowToo)
      if (__all_sync(kFullMask, end_ > done + kBatch<true>))
        return self().template batch<true>(work, done, j);
#pragma unroll 1
    for (int u = 0; u < S::kUnroll; u += kBatch<false>) self().template batch<false>(work, done + u, j + u);
  }

  __device__ void accumulate(const CsrWork& work) {
    Staged next[kPerLane] = {};
    fetch(work, 0, next);
    end_ = shared_.ends[0].end;
    end_rows(work, 0);
    const int most = S::kLanes == 32 ? work.entries : __reduce_max_sync(kFullMask, work.entries);
    for (int base = 0; base < most; base += kChunk) {
      stage(next);
      fetch(work, base + kChunk, next);
      const int rounds = min(kChunk, most - base);
      for (int j = 0; j < rounds; j += S::kUnroll) add_batch(work, base + j, j);
    }
  }

  __device__ Acc* partial(std::int64_t piece) const {
    const std::int64_t at = (piece * task_.heads + head_) * task_.slices + slice_;
    return reinterpret_cast<Acc*>(task_.partials) + (at * S::kLanes + lane_) * Derived::kPartial;
  }

  /// Hands in a row, or the sums of a piece.
  __device__ void write(const CsrWork& work) {
    if (work.piece)
      self().leave(partial(item_));
    else
      self().write(shared_.ends[row_].row, row_);
  }

  /// Merges the pieces of a row if this was the last of them to arrive. Which group does it varies, the order
  /// does not.
  __device__ void finish_split(const CsrWork& work) {
    const std::int32_t index = work.piece ? task_.pieces[item_].split : 0;
    const CsrSplit split = task_.splits[index];
    unsigned* const arrived =
        task_.arrived + (std::int64_t{index} * task_.heads + head_) * task_.slices + slice_;
    if (!warp_arrives_last<S::kLanes>(arrived, split.pieces, lane_, work.piece)) return;
    self().reset();
    for (std::int32_t p = 0; p < split.pieces; ++p) self().merge(partial(split.first_piece + p));
    self().write(place(split.row), 0);
  }
};

inline constexpr int kAttentionThreads = 128;

/// Pieces come first: they are the longest items.
template <class Group, int kBlocks>
__global__ void __launch_bounds__(kAttentionThreads, kBlocks)
    attention_rows(const __grid_constant__ AttentionTask task) {
  constexpr int kGroups = kAttentionThreads / Group::kLanes;
  __shared__ typename Group::Shared shared[kGroups];
  follow_previous_kernel();
  const int thread = static_cast<int>(threadIdx.x), group = thread / Group::kLanes;
  const int slice = static_cast<int>(blockIdx.z * gridDim.y + blockIdx.y);
  if (slice >= task.slices) return;
  const std::int64_t number = std::int64_t{blockIdx.x} * kGroups + group;
  const std::int64_t item = task.beside ? number / task.heads : number % task.item_count;
  const std::int64_t head = task.beside ? number % task.heads : number / task.item_count;
  const bool there = number < std::int64_t{task.item_count} * task.heads;
  Group(task, shared[group], thread % Group::kLanes, there ? item : task.item_count,
        there ? static_cast<int>(head) : 0, slice)
      .run();
}

}  // namespace sptile::runtime::cuda
