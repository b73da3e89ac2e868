// Base class of the kernels that use the nonzeros of rows: a group of lanes processes one item of one head
// (csr_walk.cuh). The rows of some nonzeros are loaded together, across the ends of rows. Derived
// classes define:
//   static constexpr int kPartial;       numbers of Acc per lane that leave() stores
//   static constexpr AttentionSide kSide;
//   void prepare(work)                   computes numbers of rows, before their nonzeros
//   void batch<kOneRow>(work, done, j)   uses staged nonzeros from j on
//   void write(row, number)              writes a finished row
//   void reset()                         sets the sums to those of no nonzeros
//   void leave(Acc* to)                  stores the sums of a segment
//   void merge(const Acc* from)          adds sums that leave() has stored
#pragma once

#include <cstdint>

#include "runtime/cuda/collective/csr_walk.cuh"
#include "runtime/cuda/device/start_kernel.cuh"
#include "runtime/cuda/families/attention/task.cuh"

namespace sptile::runtime::cuda {

/// Numbers of a row that all its entries use.
template <class Acc>
struct RowNumbers {
  Acc square = {};  ///< squared length of the group's row
  Acc maximum = {}, inverse = {}, delta = {};
};

template <class S, class Derived>
class AttentionGroup {
 public:
  using Math = typename S::Math;
  using Dense = typename S::Dense;
  using Acc = typename S::Acc;
  using Chunk = typename S::Chunk;
  /// Entries per batch: fewer if each has its own row, which needs additional registers.
  template <bool kOneRow>
  static constexpr int kBatch = kOneRow ? S::kUnroll : S::kUnroll / 2;
  static constexpr int kChunk = S::kLanes < 8 ? 8 : S::kLanes < 32 ? 16 : 32;  ///< entries per stage

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
    const CsrWork work =
        load_item<S::kLanes>(task_, item_, shared_.ends, lane_, [&](std::int32_t row) { return place(row); });
    __syncwarp();
    self().prepare(work);
    __syncwarp();
    self().reset();
    accumulate(work);
    if (__any_sync(kFullMask, work.piece)) finish_split(work);
  }

 protected:
  /// Returns the rows of an operand for the group's head.
  __device__ std::byte* rows_of(int operand) const {
    const DenseRows& rows = task_.dense[operand];
    return rows.data + head_ * rows.batch;
  }
  __device__ std::byte* row_of(int operand, std::int64_t row) const {
    return rows_of(operand) + row * task_.dense[operand].stride;
  }
  __device__ bool has(int operand) const { return task_.dense[operand].data != nullptr; }

  /// Returns the number of slices of `columns` columns.
  __device__ int slices_of(std::int64_t columns) const {
    return static_cast<int>((columns + S::kColumns - 1) / S::kColumns);
  }
  /// Returns the slice of an operand that is kept in registers: the group's, or slice 0 if the operand has
  /// fewer.
  __device__ int kept_slice(std::int64_t columns) const { return slice_ < slices_of(columns) ? slice_ : 0; }

  /// Returns the remaining columns from the lane's first one of a slice.
  __device__ int left(int slice, std::int64_t columns) const {
    return static_cast<int>(min(columns - first_column(slice), std::int64_t{S::kColumns}));
  }
  __device__ std::int64_t first_column(int slice) const {
    return std::int64_t{slice} * S::kColumns + lane_ * S::kElements;
  }

  /// Loads the lane's part of a row, or zeros past its end.
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

  /// Entries whose rows are loaded together.
  template <bool kOneRow>
  struct Entries {
    static constexpr int kCount = kBatch<kOneRow>;
    static constexpr int kRows = kOneRow ? 1 : kCount;
    std::int32_t column[kCount];
    bool there[kCount];
    int number[kRows];        ///< index of their row in the run
    std::int32_t row[kRows];  ///< id of their row
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

  /// Rows of some entries, own and other, one slice of each.
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

  /// Sums over columns of pairs: own . other and, if requested, other . other.
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

  /// Returns the lane's share of the products of all slices except the kept one. Only wide rows have more
  /// slices; they are processed first, while other registers are free.
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

  /// Computes the scores of pairs and the arguments of exp. `sums` contains the products of the other slices.
  template <bool kOneRow>
  __device__ __forceinline__ void score(Products<kOneRow>& sums, const Pairs<kOneRow>& pairs,
                                        const Entries<kOneRow>& these, int j, int own, int other,
                                        ScoreParts<Acc> (&parts)[kBatch<kOneRow>],
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
      parts[u] =
          score_of<Acc>(task_.score, sums.both[u], square, sums.squares[u], static_cast<Acc>(task_.slope));
      scores[u] = these.there[u] ? static_cast<Acc>(task_.alpha) * parts[u].score + shared_.bias[j + u]
                                 : masked<Acc>();
    }
  }

  /// Reduces both arrays across the group, in fewer steps than two reductions.
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

  /// Returns the first number of a row.
  __device__ __forceinline__ Acc first_of(int operand, std::int64_t row) const {
    return number_at<Dense>(row_of(operand, row), 0);
  }

  /// Returns the product of two operands of a row, over all columns, reduced across the group.
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

  /// Returns the number of rows of the warp's longest run.
  __device__ static int most_rows(const CsrWork& work) { return __reduce_max_sync(kFullMask, work.rows); }

  /// Called after the entries before `k`: completes the row that ends there and the following empty rows.
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
  int row_ = 0, end_ = 0;  ///< in the run: the current row, and its end

 private:
  __device__ Derived& self() { return static_cast<Derived&>(*this); }

  __device__ std::int32_t place(std::int32_t row) const { return caller_row(task_.row_order, row); }

  struct Staged {
    std::int32_t column = 0;
    Acc bias = {};
  };
  __device__ __forceinline__ void add_batch(const CsrWork& work, int done, int j) {
    if constexpr (S::kOneRowToo)
      if (__all_sync(kFullMask, end_ > done + kBatch<true>))
        return self().template batch<true>(work, done, j);
#pragma unroll 1
    for (int u = 0; u < S::kUnroll; u += kBatch<false>) self().template batch<false>(work, done + u, j + u);
  }

  __device__ void accumulate(const CsrWork& work) {
    const auto load = [&](int k, Staged& entry) {
      entry.column = load_once(task_.columns + work.first + k);
      if (has(kAttentionBias)) entry.bias = number_at<Dense>(rows_of(kAttentionBias), work.first + k);
    };
    const auto stage = [&](int /*base*/, int at, const Staged& entry) {
      shared_.column[at] = entry.column;
      shared_.bias[at] = entry.bias;
    };
    const auto begin_rows = [&] {
      end_ = shared_.ends[0].end;
      end_rows(work, 0);
    };
    const auto use = [&](int base, int /*here*/, int count) {
      for (int j = 0; j < count; j += S::kUnroll) add_batch(work, base + j, j);
    };
    walk_staged<Staged, S::kLanes, kChunk>(work.entries, lane_, load, stage, begin_rows, use);
  }

  __device__ std::int64_t index_of(std::int64_t i) const {
    return part_index(i, task_.heads, head_, task_.slices, slice_);
  }
  __device__ Acc* partial(std::int64_t piece) const {
    return reinterpret_cast<Acc*>(task_.partials) + (index_of(piece) * S::kLanes + lane_) * Derived::kPartial;
  }

  /// Writes a row, or stores the sums of a piece.
  __device__ void write(const CsrWork& work) {
    if (work.piece)
      self().leave(partial(item_));
    else
      self().write(shared_.ends[row_].row, row_);
  }

  /// Merges the segments of a row in order if this segment is the last to arrive.
  __device__ void finish_split(const CsrWork& work) {
    CsrSplit split;
    const auto index = [&](std::int64_t i) { return index_of(i); };
    if (!is_last_segment<S::kLanes>(task_, work, item_, lane_, index, split)) return;
    self().reset();
#pragma unroll 4
    for (std::int32_t p = 0; p < split.pieces; ++p) self().merge(partial(split.first_piece + p));
    self().write(place(split.row), 0);
  }
};

inline constexpr int kAttentionThreads = AttentionPolicy{}.threads;

/// Pieces are first, because they are the longest items.
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
