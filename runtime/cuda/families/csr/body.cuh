// Device body of the csr kernel. A group of lanes works through one run of rows, or one piece of a long row:
//  - entries come 16 or 32 at a time and wait in shared memory, the next ones already on their way;
//  - rows of B are fetched kUnroll at a time before any is used, across the ends of rows, so that short rows
//    keep as many loads in flight as long ones (after RoDe's register pipeline, PPoPP 2024, section 4.3);
//  - a row of C is written when its last entry is in.
#pragma once

#include <climits>
#include <cstdint>

#include "runtime/core/operands.hpp"
#include "runtime/cuda/collective/number.cuh"
#include "runtime/cuda/collective/warp.cuh"
#include "runtime/cuda/device/ptx.cuh"
#include "runtime/cuda/device/slices.cuh"
#include "runtime/cuda/device/split.cuh"
#include "runtime/cuda/device/start_kernel.cuh"
#include "runtime/cuda/families/csr/schedule.hpp"

namespace sptile::runtime::cuda {

/// Sizes that decide speed, not results.
template <int kThreadsPerBlock, int kRowsInFlight, int kLeastBlocks, int kVectorsOfLane = 1>
struct CsrTuning {
  static constexpr int kThreads = kThreadsPerBlock;
  static constexpr int kVectors = kVectorsOfLane;  ///< see LaneColumns
  static constexpr int kUnroll = kRowsInFlight;    ///< even
  /// Rows end in one place of the code, which then is a third as long: for kernels that have other work too.
  static constexpr bool kCompact = false;
  static constexpr int kBlocksPerSm = kLeastBlocks;
};

/// How rows of C are written: each by one group of lanes, alone. Another way may bring data of its own.
struct CsrStore {
  static constexpr bool kPieces = true;  ///< rows may be in pieces, whose sums are added up

  template <class Columns, class Result, class Sum, class Acc>
  __device__ void operator()(std::int32_t /*number*/, const Columns& columns, Result* row, const Sum& sum,
                             Acc alpha, Acc beta) const {
    columns.store(row, sum, alpha, beta);
  }
};

/// The heads of a launch: one, which costs nothing.
struct CsrHead {
  static constexpr int count = 1;
  static constexpr std::int64_t values_batch = 0, b_batch = 0, c_batch = 0;

  static CsrHead of(const Launch&) { return {}; }
  static __device__ int of_block(int /*slices*/) { return 0; }
};

/// Several of them, so many elements apart. They take registers.
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
  const Value* values;          ///< null: ones
  const std::int32_t* row_ids;  ///< of the rows; ~id: the result is added to what is there; null: 0, 1, ...
  const std::int32_t* row_order;
  const CsrRun* runs;
  const CsrPiece* pieces;
  const CsrSplit* splits;
  unsigned* arrived;  ///< one counter for each split, head and slice
  Acc* partials;      ///< [piece][head][slice][lane][element]
  int piece_count, item_count;
  int slices;  ///< of the columns of a head
  /// The kernel before writes rows that this one adds to, and nothing else that this one touches; it admits
  /// this one when all that is before both has ended. So this one begins beside it, and waits for it before
  /// it adds.
  bool overlaps;
  const Dense* b;
  Result* c;
  std::int64_t ldb, ldc, n;
  Acc alpha, beta;
  [[no_unique_address]] StoreT store;
  [[no_unique_address]] HeadsT heads;
};

/// An entry as it waits in shared memory.
template <class Acc>
struct alignas(2 * sizeof(Acc)) StagedEntry {
  std::int32_t column;
  Acc value;
};

/// End of a row, counted from the first entry of the run, and where the row goes; ~row: it is added there.
struct RowEnd {
  std::int32_t end, row;
};

/// The columns of B and C that one lane holds: 16 bytes of neighbours when rows can be read so, else kVector
/// columns one group apart. Columns past the end are read at the last one and not written. With more kVectors
/// there are none such, and a lane holds so many times 16 bytes, a group of lanes apart.
template <class Dense, int kLanes, bool kAligned, int kVectors = 1>
struct LaneColumns {
  static_assert(kAligned || kVectors == 1);
  static constexpr int kWhole = 16 / static_cast<int>(sizeof(Dense));  ///< columns of 16 bytes
  static constexpr int kVector = kVectors * kWhole;
  static constexpr int kApart = kLanes * kWhole;       ///< from one vector to the next
  static constexpr int kStep = kAligned ? 1 : kLanes;  ///< from one column to the next
  using Acc = typename Accumulator<Dense>::Type;
  struct alignas(16) Raw {
    Dense x[kVector];
  };
  /// The same of C.
  template <class Result>
  struct alignas(16) RawResult {
    static constexpr int kPieces = kWhole * static_cast<int>(sizeof(Result)) / 16;  ///< of a vector
    Result x[kVector];
  };

  std::int64_t first;  ///< column of element 0, or the last one that can be read in its place
  int last;            ///< distance from `first` to the last column that the lane has; -1: it has none

  __device__ LaneColumns(int lane, std::int64_t slice, std::int64_t n) {
    const std::int64_t wanted = slice * kLanes * kVector + (kAligned ? lane * kWhole : lane);
    const std::int64_t left = n - 1 - wanted;
    first = left >= 0 ? wanted : n - (kAligned ? kWhole : 1);
    last = left < 0 ? -1 : static_cast<int>(min(left, std::int64_t{kVector * kLanes}));
  }

  /// `row` points to column `first`.
  __device__ Raw load(const Dense* row) const {
    Raw raw;
    if constexpr (kAligned) {
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        const uint4 bits = __ldg(reinterpret_cast<const uint4*>(row + v * kApart));
        __builtin_memcpy(raw.x + v * kWhole, &bits, sizeof bits);
      }
    } else {
#pragma unroll
      for (int e = 0; e < kVector; ++e) raw.x[e] = row[max(min(e * kStep, last), 0)];
    }
    return raw;
  }

  /// Keeps the compiler from widening elements before they are needed, which would take twice the registers.
  __device__ static void keep_raw(Raw& raw) {
    std::uint32_t words[sizeof(Raw) / 4];
    __builtin_memcpy(words, &raw, sizeof(raw));
#pragma unroll
    for (std::uint32_t& word : words) keep(word);
    __builtin_memcpy(&raw, words, sizeof(raw));
  }

  /// Reads what is there now, past the first cache; elements that the lane does not have are 0.
  template <class Result>
  __device__ RawResult<Result> load_written(const Result* row) const {
    RawResult<Result> raw = {};
    if constexpr (kAligned) {
      if (last < 0) return raw;
      uint4 bits[kVectors][raw.kPieces];
#pragma unroll
      for (int v = 0; v < kVectors; ++v)
#pragma unroll
        for (int i = 0; i < raw.kPieces; ++i)
          bits[v][i] = __ldcg(reinterpret_cast<const uint4*>(row + v * kApart) + i);
      __builtin_memcpy(&raw, bits, sizeof(raw));
    } else {
#pragma unroll
      for (int e = 0; e < kVector; ++e)
        if (e * kStep <= last) raw.x[e] = __ldcg(row + e * kStep);
    }
    return raw;
  }

  /// Writes alpha * sum + beta * C.
  template <class Result>
  __device__ void store(Result* row, const Acc (&sum)[kVector], Acc alpha, Acc beta) const {
    Acc result[kVector];
#pragma unroll
    for (int e = 0; e < kVector; ++e) result[e] = alpha * sum[e];
    if (beta != Acc(0)) {
      const RawResult<Result> old = load_written(row);
#pragma unroll
      for (int e = 0; e < kVector; ++e) result[e] += beta * widen(old.x[e]);
    }
    if constexpr (kAligned) {
      RawResult<Result> raw;
#pragma unroll
      for (int e = 0; e < kVector; ++e) raw.x[e] = narrow<Result>(result[e]);
      uint4 bits[kVectors][raw.kPieces];
      __builtin_memcpy(bits, &raw, sizeof(bits));
#pragma unroll
      for (int v = 0; v < kVectors; ++v)
#pragma unroll
        for (int i = 0; i < raw.kPieces; ++i)
          if (last >= 0) __stcs(reinterpret_cast<uint4*>(row + v * kApart) + i, bits[v][i]);
    } else {
#pragma unroll
      for (int e = 0; e < kVector; ++e)
        if (e * kStep <= last) row[e * kStep] = narrow<Result>(result[e]);
    }
  }
};

/// What a group of lanes has to do: whole rows, or one piece of a row. Groups without an item have no
/// entries.
struct CsrWork {
  std::int64_t first = 0;  ///< entry
  int entries = 0;
  int rows = 0;
  bool piece = false;
  std::int32_t row = 0;  ///< first of them
};

/// One group of lanes and its part of the block's shared memory. The groups of a warp go through their
/// entries in step, as far as the longest of them needs: they have about equal work, and groups that drift
/// apart would take turns.
template <class ArgumentsT, int kLanes, bool kAligned, class Tuning>
class CsrGroup {
 public:
  using Arguments = ArgumentsT;
  using Dense = typename Arguments::Dense;
  using Result = typename Arguments::Result;
  using Acc = typename Accumulator<Dense>::Type;
  using Columns = LaneColumns<Dense, kLanes, kAligned, Tuning::kVectors>;
  static constexpr int kVector = Columns::kVector;
  static constexpr int kChunk = kLanes < 32 ? 16 : 32;  ///< entries read at a time, two a lane at most
  static constexpr int kPerLane = kChunk / kLanes;
  static constexpr int kUnroll = Tuning::kUnroll;

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
        slice_(slice) {}

  __device__ void run() {
    const CsrWork work = begin();
    accumulate(work);
    if constexpr (Arguments::Store::kPieces)
      if (__any_sync(kFullMask, work.piece)) finish_split(work);
  }

 private:
  /// The place of the slice among those of all heads of a split or a piece.
  __device__ std::int64_t slice_of(std::int64_t index) const {
    return (index * a_.heads.count + head_) * a_.slices + slice_;
  }

  /// Reads the item and where its rows end.
  __device__ CsrWork begin() {
    CsrWork work;
    if (Arguments::Store::kPieces && item_ < a_.piece_count) {
      const CsrPiece piece = a_.pieces[item_];
      work = {piece.entry, piece.entries, 1, true};
      if (lane_ == 0) shared_.ends[0].end = piece.entries;
    } else if (item_ < a_.item_count) {
      const CsrRun run = a_.runs[item_ - a_.piece_count];
      work = {run.entry, static_cast<int>(run.entries_and_rows >> 8),
              static_cast<int>(run.entries_and_rows & 0xFF), false, run.row};
      for (int r = lane_; r < work.rows; r += kLanes) {
        const std::int32_t row = run.row + r;
        shared_.ends[r] = {static_cast<std::int32_t>(a_.row_ptr[row + 1] - run.entry), place(row)};
      }
    }
    if (lane_ == 0) shared_.ends[work.rows].end = INT_MAX;
    return work;
  }

  /// Where a row goes; ~ of it when it is added there.
  __device__ std::int32_t place(std::int32_t row) const {
    if (a_.row_ids != nullptr) row = a_.row_ids[row];
    if (a_.row_order == nullptr) return row;
    return row < 0 ? ~a_.row_order[~row] : a_.row_order[row];
  }

  /// Writes the row with a number, which goes to `to`, or adds to it.
  __device__ void store(std::int32_t number, std::int32_t to, const Acc (&sum)[kVector]) const {
    const bool adds = to < 0;
    Result* const row = c_ + (adds ? ~to : to) * a_.ldc;
    if (adds && a_.overlaps) await_previous_kernel();
    a_.store(number, columns_, row, sum, a_.alpha, adds ? Acc(1) : a_.beta);
  }

  /// Where the lane's sums of a piece stand, 16 bytes at a time.
  static constexpr int kSumPieces = kVector * static_cast<int>(sizeof(Acc)) / 16;
  __device__ uint4* partial(std::int64_t piece) const {
    return reinterpret_cast<uint4*>(a_.partials) + (slice_of(piece) * kLanes + lane_) * kSumPieces;
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

  /// Writes a finished row of C, or the sum of a piece.
  __device__ void write(const CsrWork& work, int row, const Acc (&sum)[kVector]) const {
    if (Arguments::Store::kPieces && work.piece) {
      uint4* const to = partial(item_);
      uint4 bits[kSumPieces];
      __builtin_memcpy(bits, sum, sizeof bits);
#pragma unroll
      for (int i = 0; i < kSumPieces; ++i) __stcg(to + i, bits[i]);
    } else {
      store(work.row + row, shared_.ends[row].row, sum);
    }
  }

  __device__ void accumulate(const CsrWork& work) {
    StagedEntry<Acc> next[kPerLane] = {};
    Acc sum[kVector] = {};
    int row = 0;
    fetch(work, 0, next);
    __syncwarp();
    int end = shared_.ends[0].end;

    // Called when the entries before `k` are in; writes the row that ends there and the empty ones behind it.
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
          // What stands behind the last entry is added to a sum that is never written.
          if (j + u < here) b[u] = columns_.load(b_ + entry.column * a_.ldb);
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

  /// Adds up the pieces of a row if this was the last of them to arrive. Which group does it varies, the
  /// order of the additions does not.
  __device__ void finish_split(const CsrWork& work) {
    const std::int32_t index = work.piece ? a_.pieces[item_].split : 0;
    const CsrSplit split = a_.splits[index];
    unsigned* const arrived = a_.arrived + slice_of(index);
    if (!warp_arrives_last<kLanes>(arrived, split.pieces, lane_, work.piece)) return;
    Acc sum[kVector] = {};
#pragma unroll 4
    for (std::int32_t p = 0; p < split.pieces; ++p) {
      const uint4* const from = partial(split.first_piece + p);
      uint4 bits[kSumPieces];
#pragma unroll
      for (int i = 0; i < kSumPieces; ++i) bits[i] = __ldcg(from + i);
      Acc piece[kVector];
      __builtin_memcpy(piece, bits, sizeof bits);
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

/// Pieces come first: they are the longest items.
template <class Arguments, int kLanes, bool kAligned, class Tuning>
__global__ void __launch_bounds__(Tuning::kThreads, Tuning::kBlocksPerSm)
    csr_spmm(const __grid_constant__ Arguments arguments) {
  using Group = CsrGroup<Arguments, kLanes, kAligned, Tuning>;
  constexpr int kGroups = Tuning::kThreads / kLanes;
  __shared__ typename Group::Shared shared[kGroups];

  admit_next_kernel();
  if (!arguments.overlaps) await_previous_kernel();
  const int group = static_cast<int>(threadIdx.x) / kLanes, lane = static_cast<int>(threadIdx.x) % kLanes;
  const int slice = slice_of_block(arguments.slices);
  if (slice >= arguments.slices) return;
  Group(arguments, shared[group], lane, static_cast<int>(blockIdx.x) * kGroups + group, slice).run();
  if (arguments.overlaps) await_previous_kernel();  // when this one has ended, the one before has, too
}

}  // namespace sptile::runtime::cuda
