// Device body of the csr kernel. A group of lanes multiplies one item (csr_walk.cuh). It loads kUnroll rows
// of B before it uses any, across the ends of rows, so that short and long rows have the same number of loads
// in flight (after RoDe's register pipeline, PPoPP 2024, section 4.3). A row of C is written after its last
// nonzero.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/core/operands.hpp"
#include "runtime/cuda/collective/csr_walk.cuh"
#include "runtime/cuda/collective/lane_columns.cuh"
#include "runtime/cuda/collective/number.cuh"
#include "runtime/cuda/collective/warp.cuh"
#include "runtime/cuda/device/ptx.cuh"
#include "runtime/cuda/device/slices.cuh"
#include "runtime/cuda/device/start_kernel.cuh"

namespace sptile::runtime::cuda {

/// Parameters that determine speed, not results.
template <int kThreadsPerBlock, int kRowsInFlight, int kLeastBlocks, int kVectorsOfLane = 1>
struct CsrTuning {
  static constexpr int kThreads = kThreadsPerBlock;
  static constexpr int kVectors = kVectorsOfLane;  ///< see LaneColumns
  static constexpr int kUnroll = kRowsInFlight;    ///< even
  /// Rows end at one position in the code, which reduces its size to a third: for kernels with other work.
  static constexpr bool kCompact = false;
  static constexpr int kBlocksPerSm = kLeastBlocks;
};

/// Store of rows of C, each by one group of lanes. Replacements may have data members.
struct CsrStore {
  static constexpr bool kPieces = true;  ///< rows may be split, and the sums of their pieces added

  template <class Columns, class Result, class Sum, class Acc>
  __device__ void operator()(std::int32_t /*number*/, const Columns& columns, Result* row, const Sum& sum,
                             Acc alpha, Acc beta) const {
    columns.store(row, sum, alpha, beta);
  }
};

/// Heads of a launch: a single one, without overhead.
struct CsrHead {
  static constexpr int count = 1;
  static constexpr std::int64_t values_batch = 0, b_batch = 0, c_batch = 0;

  static CsrHead of(const Launch&) { return {}; }
  static __device__ int of_block(int /*slices*/) { return 0; }
};

/// Several heads with constant strides, which need registers.
struct CsrHeads {
  int count;
  std::int64_t values_batch, b_batch, c_batch;

  static CsrHeads of(const Launch& launch) {
    const Operands& o = launch.operands;
    return {static_cast<int>(launch.sizes.heads), o.values_batch, o.dense[kSpmmB].batch,
            o.dense[kSpmmC].batch};
  }
  static __device__ int of_block(int slices) { return head_of_block(slices); }
};

template <class ValueT, class DenseT, class StoreT = CsrStore, class ResultT = DenseT, class HeadsT = CsrHead>
struct CsrArguments {
  using Value = ValueT;
  using Dense = DenseT;
  using Result = ResultT;
  using Store = StoreT;
  using Heads = HeadsT;
  using Acc = typename Accumulator<Dense>::Type;
  const std::int64_t* row_ptr;
  const std::int32_t* columns;
  const Value* values;          ///< null: all values are 1
  const std::int32_t* row_ids;  ///< ids of the rows; ~id: the result is added; null: 0, 1, ...
  const std::int32_t* row_order;
  const CsrRun* runs;
  const CsrPiece* pieces;
  const CsrSplit* splits;
  unsigned* arrived;  ///< one counter per split, head and slice
  Acc* partials;      ///< [piece][head][slice][lane][element]
  int piece_count, item_count;
  int slices;  ///< slices of the columns of a head
  /// The previous kernel writes rows that this one adds to, and shares no other memory with it. It allows the
  /// launch of this one when all earlier work has completed. This kernel therefore starts concurrently and
  /// waits before it adds.
  bool overlaps;
  const Dense* b;
  Result* c;
  std::int64_t ldb, ldc, n;
  std::uint32_t b_bytes;  ///< bytes between rows of B, if operands are aligned
  Acc alpha, beta;
  // Not [[no_unique_address]]: host and device code would place members after this structure differently.
  StoreT store;
  HeadsT heads;
};

/// One group of lanes and its part of the block's shared memory.
template <class ArgumentsT, int kLanes, bool kAligned, class Tuning>
class CsrGroup {
 public:
  using Arguments = ArgumentsT;
  using Dense = typename Arguments::Dense;
  using Result = typename Arguments::Result;
  using Acc = typename Accumulator<Dense>::Type;
  using Columns = LaneColumns<Dense, kLanes, kAligned, Tuning::kVectors>;
  static constexpr int kVector = Columns::kVector;
  static constexpr int kChunk = kLanes < 32 ? 16 : 32;  ///< entries per stage, at most two per lane
  static constexpr int kPerLane = kChunk / kLanes;
  static constexpr int kUnroll = Tuning::kUnroll;
  /// Groups read their items before the previous kernel has ended. With 4 lanes, f16 takes 15 % longer if
  /// they do.
  static constexpr bool kReadsItemFirst = kLanes > 4;

  struct Shared {
    StagedEntry<Acc> entries[kChunk];
    RowEnd ends[kMaxRunRows + 1];
  };

  __device__ CsrGroup(const Arguments& arguments, Shared& shared, int lane, int item, int slice)
      : a_(arguments),
        shared_(shared),
        columns_(lane, slice, arguments.n),
        head_(arguments.heads.of_block(arguments.slices)),
        values_(arguments.values + head_ * arguments.heads.values_batch),
        b_(arguments.b + head_ * arguments.heads.b_batch + columns_.first),
        c_(arguments.c + head_ * arguments.heads.c_batch + columns_.first),
        lane_(lane),
        item_(item),
        slice_(slice) {
    if constexpr (sizeof(Dense) == 2) keep(b_);  // registers of f32 are worth more
  }

  __device__ void run() {
    const CsrWork work = load_item<kLanes, Arguments::Store::kPieces, false>(
        a_, item_, shared_.ends, lane_, [&](std::int32_t row) { return place(row); });
    if (kReadsItemFirst && !a_.overlaps) await_previous_kernel();
    accumulate(work);
    if constexpr (Arguments::Store::kPieces)
      if (__any_sync(kFullMask, work.piece)) finish_split(work);
  }

 private:
  /// Returns the index of the group's head and slice in an array of split rows or segments.
  __device__ std::int64_t slice_of(std::int64_t index) const {
    return part_index(index, a_.heads.count, head_, a_.slices, slice_);
  }

  /// Returns the row of C, or ~row if the result is added to it.
  __device__ std::int32_t place(std::int32_t row) const {
    if (a_.row_ids != nullptr) row = a_.row_ids[row];
    if (a_.row_order == nullptr) return row;
    return row < 0 ? ~a_.row_order[~row] : a_.row_order[row];
  }

  /// Writes or adds a row to output row `to`.
  __device__ void store(std::int32_t number, std::int32_t to, const Acc (&sum)[kVector]) const {
    const bool adds = to < 0;
    Result* const row = c_ + (adds ? ~to : to) * a_.ldc;
    if (adds && a_.overlaps) await_previous_kernel();
    a_.store(number, columns_, row, sum, a_.alpha, adds ? Acc(1) : a_.beta);
  }

  /// Returns the lane's part of a row of B.
  __device__ const Dense* row_of_b(std::int32_t row) const {
    if constexpr (kAligned)
      return row_at(b_, row, a_.b_bytes);
    else
      return b_ + row * a_.ldb;
  }

  /// Partial sums of the lane for a segment.
  __device__ Acc* partial(std::int64_t piece) const {
    return a_.partials + (slice_of(piece) * kLanes + lane_) * kVector;
  }

  __device__ void fetch(const CsrWork& work, int base, StagedEntry<Acc> (&next)[kPerLane]) const {
#pragma unroll
    for (int i = 0; i < kPerLane; ++i) {
      const int k = base + lane_ + i * kLanes;
      if (k >= work.entries) continue;
      next[i].column = load_once(a_.columns + work.first + k);
      next[i].value = a_.values != nullptr ? widen(load_once(values_ + work.first + k)) : Acc(1);
    }
  }

  __device__ void stage(const StagedEntry<Acc> (&next)[kPerLane]) {
    __syncwarp();
#pragma unroll
    for (int i = 0; i < kPerLane; ++i) shared_.entries[lane_ + i * kLanes] = next[i];
    __syncwarp();
  }

  /// Writes a finished row of C, or the sum of a segment.
  __device__ void write(const CsrWork& work, int row, const Acc (&sum)[kVector]) const {
    if (Arguments::Store::kPieces && work.piece)
      store_partial(partial(item_), sum);
    else
      store(work.row + row, shared_.ends[row].row, sum);
  }

  // The loop of walk_staged, inlined by hand: callables need up to 12 more registers in f16 instances.
  __device__ void accumulate(const CsrWork& work) {
    StagedEntry<Acc> next[kPerLane] = {};
    Acc sum[kVector] = {};
    int row = 0;
    fetch(work, 0, next);
    __syncwarp();
    int end = shared_.ends[0].end;

    // Called when the nonzeros before `k` have been added: writes the row that ends there and the empty rows
    // after it.
    const auto end_rows = [&](int k) {
      while (end == k) {
        write(work, row, sum);
#pragma unroll
        for (int e = 0; e < kVector; ++e) sum[e] = Acc(0);
        end = shared_.ends[++row].end;
      }
    };
    end_rows(0);

    const int most = kLanes == 32 ? work.entries : __reduce_max_sync(kFullMask, work.entries);
    for (int base = 0; base < most; base += kChunk) {
      stage(next);
      fetch(work, base + kChunk, next);
      const int here = work.entries - base, rounds = min(kChunk, most - base);
      for (int j = 0; j < rounds; j += kUnroll) {
        typename Columns::Raw b[kUnroll];
        Acc value[kUnroll];
#pragma unroll
        for (int u = 0; u < kUnroll; ++u) {
          const StagedEntry<Acc> entry = shared_.entries[j + u];
          value[u] = entry.value;
          // Products past the last nonzero are added to a sum that is never written.
          if (j + u < here) b[u] = columns_.load(row_of_b(entry.column));
        }
        const int done = base + j;
        if constexpr (Tuning::kCompact) {
          for (int from = 0; from < kUnroll;) {
            const int to = min(end - done, kUnroll);
#pragma unroll
            for (int u = 0; u < kUnroll; ++u) columns_.keep_raw(b[u]);
#pragma unroll
            for (int u = 0; u < kUnroll; ++u)
              if (from <= u && u < to) add(sum, value[u], b[u]);
            end_rows(done + to);
            from = to;
          }
        } else if (__all_sync(kFullMask, end > done + kUnroll)) {
#pragma unroll
          for (int u = 0; u < kUnroll; ++u) add(sum, value[u], b[u]);
        } else {
#pragma unroll
          for (int u = 0; u < kUnroll; ++u) {
            add(sum, value[u], b[u]);
            end_rows(done + u + 1);
          }
        }
      }
    }
  }

  __device__ static void add(Acc (&sum)[kVector], Acc value, const typename Columns::Raw& b) {
#pragma unroll
    for (int e = 0; e < kVector; ++e) sum[e] += value * widen(b.x[e]);
  }

  /// Adds the segments of a row in order if this segment is the last to arrive.
  __device__ void finish_split(const CsrWork& work) {
    CsrSplit split;
    const auto index_of = [&](std::int64_t index) { return slice_of(index); };
    if (!is_last_segment<kLanes>(a_, work, item_, lane_, index_of, split)) return;
    Acc sum[kVector] = {};
    // add_partial, inlined by hand: a call needs 4 more registers in f16 instances of two vectors.
    constexpr int kSumWords = kVector * static_cast<int>(sizeof(Acc)) / 16;
#pragma unroll 4
    for (std::int32_t p = 0; p < split.pieces; ++p) {
      const auto* const from = reinterpret_cast<const uint4*>(partial(split.first_piece + p));
      uint4 words[kSumWords];
#pragma unroll
      for (int i = 0; i < kSumWords; ++i) words[i] = __ldcg(from + i);
      Acc piece[kVector];
      __builtin_memcpy(piece, words, sizeof words);
#pragma unroll
      for (int e = 0; e < kVector; ++e) sum[e] += piece[e];
    }

    store(split.row, place(split.row), sum);
  }

  const Arguments& a_;
  Shared& shared_;
  Columns columns_;
  std::int64_t head_;
  const typename Arguments::Value* values_;
  const Dense* b_;  ///< row 0 at the lane's first column
  Result* c_;
  int lane_, item_, slice_;
};

/// Pieces are first, because they are the longest items.
template <class Arguments, int kLanes, bool kAligned, class Tuning>
__global__ void __launch_bounds__(Tuning::kThreads, Tuning::kBlocksPerSm)
    csr_spmm(const __grid_constant__ Arguments arguments) {
  using Group = CsrGroup<Arguments, kLanes, kAligned, Tuning>;
  constexpr int kGroups = Tuning::kThreads / kLanes;
  __shared__ typename Group::Shared shared[kGroups];

  admit_next_kernel();
  if (!Group::kReadsItemFirst && !arguments.overlaps) await_previous_kernel();
  const int group = static_cast<int>(threadIdx.x) / kLanes, lane = static_cast<int>(threadIdx.x) % kLanes;
  const int slice = slice_of_block(arguments.slices);
  if (slice >= arguments.slices) return;
  Group(arguments, shared[group], lane, static_cast<int>(blockIdx.x) * kGroups + group, slice).run();
  if (arguments.overlaps)
    await_previous_kernel();  // so that the end of this kernel implies the end of the previous one
}

}  // namespace sptile::runtime::cuda
