// Device body of the direct csr kernel. A team of lanes holds a row of B; the teams of a row process its
// entries in turns and are reduced by shuffles, in a fixed order. Blocks process rows that are too long for a
// warp.
#pragma once

#include <cstdint>

#include "runtime/cuda/collective/csr_rows.cuh"
#include "runtime/cuda/collective/direct_row.cuh"
#include "runtime/cuda/collective/lane_columns.cuh"
#include "runtime/cuda/collective/split.cuh"

namespace sptile::runtime::cuda {

template <class ValueT, class DenseT>
struct DirectArguments {
  using Value = ValueT;
  using Dense = DenseT;
  using Acc = typename Accumulator<Dense>::Type;
  const std::int64_t* row_ptr;
  const std::int32_t* columns;
  const Value* values;       ///< null: all values are 1
  const std::int32_t* rows;  ///< class by class; null: 0, 1, ...
  const std::int32_t* row_order;
  const CsrPiece* pieces;
  const CsrSplit* splits;
  unsigned* arrived;  ///< one counter per split and slice
  Acc* partials;      ///< [piece][slice][lane][element]
  const Dense* b;
  Dense* c;
  std::int64_t ldb, ldc, n;
  std::uint32_t b_bytes;  ///< bytes between rows of B, if operands are aligned
  Acc alpha, beta;
  int piece_count, class_count, slices;
  DirectClass classes[kDirectClasses];
};

template <class Arguments, int kLanes, int kWidth, int kRepeats, int kAtOnce, bool kAligned>
class DirectTeam {
 public:
  using Dense = typename Arguments::Dense;
  using Acc = typename Arguments::Acc;
  using Columns =
      std::conditional_t<kWidth == 1, LaneColumn<Dense, kLanes>, LaneColumns<Dense, kLanes, kAligned>>;
  static constexpr int kVector = Columns::kVector, kWarps = kDirectThreads / 32;
  using Sum = Acc[kRepeats][kVector];
  struct Shared {
    Acc sums[kWarps][kLanes][kRepeats][kVector];
    bool last;
  };

  __device__ DirectTeam(const Arguments& arguments, int slice) : a_(arguments), slice_(slice) {}

  __device__ void run_rows(int block) const {
    const DirectRow mine = direct_row(a_, block);
    await_previous_kernel();
    Sum sum = {};
    accumulate(mine.begin, mine.entries, mine.thread / kLanes, mine.threads / kLanes, sum);
    add_teams(mine.threads, sum);
    if (mine.there && mine.thread < kLanes) store(mine.row, sum);
  }

  __device__ void run_piece(int index, Shared& shared) const {
    const CsrPiece piece = a_.pieces[index];
    const CsrSplit split = a_.splits[piece.split];
    await_previous_kernel();
    const auto thread = static_cast<int>(threadIdx.x);
    constexpr int kTeams = kDirectThreads / kLanes;
    Sum sum = {};
    accumulate(piece.entry, piece.entries, thread / kLanes, kTeams, sum);
    add_warps(shared, sum);
    if (split.pieces > 1) {
      if (thread < kLanes) each([&](int r, int e) { __stcg(partial(index) + r * kVector + e, sum[r][e]); });
      unsigned* const arrived = a_.arrived + part_index(piece.split, 1, 0, a_.slices, slice_);
      if (!block_arrives_last(arrived, split.pieces, shared.last)) return;
      each([&](int r, int e) { sum[r][e] = Acc(0); });
      // Loads single elements, because add_partial needs 27 more registers in f16 instances.
      for (std::int32_t p = thread / kLanes; p < split.pieces; p += kTeams) {
        const Acc* const from = partial(split.first_piece + p);
        each([&](int r, int e) { sum[r][e] += __ldcg(from + r * kVector + e); });
      }
      add_warps(shared, sum);
    }
    if (thread < kLanes) store(split.row, sum);
  }

 private:
  template <class Body>
  __device__ static void each(const Body& body) {
#pragma unroll
    for (int r = 0; r < kRepeats; ++r)
#pragma unroll
      for (int e = 0; e < kVector; ++e) body(r, e);
  }

  __device__ static int lane() { return static_cast<int>(threadIdx.x) % kLanes; }
  __device__ Columns columns(int repeat) const {
    return {lane(), static_cast<std::int64_t>(slice_) * kRepeats + repeat, a_.n};
  }

  /// Loaded elements. Those of 16 bits are words, because the compiler takes instructions for each half of a
  /// word that is loaded under a condition.
  using Raw = typename Columns::Raw;
  using Held = std::conditional_t<kAligned && sizeof(Dense) == 2, uint4, Raw>;
  __device__ static Held hold(const Raw& raw) {
    static_assert(sizeof(Held) == sizeof(Raw));
    Held held;
    __builtin_memcpy(&held, &raw, sizeof raw);
    return held;
  }
  __device__ static Dense held(const Held& words, int e) {
    Raw raw;
    __builtin_memcpy(&raw, &words, sizeof raw);
    return raw.x[e];
  }

  __device__ const Dense* row_of_b(const Dense* row_0, std::int32_t row) const {
    if constexpr (kAligned)
      return row_at(row_0, row, a_.b_bytes);
    else
      return row_0 + row * a_.ldb;
  }

  /// Accumulates entries team, team + teams, ... from `begin`, kAtOnce rows of B at a time.
  __device__ void accumulate(std::int64_t begin, int entries, int team, int teams, Sum& sum) const {
    const std::int32_t* const ids = a_.columns + begin;
    const typename Arguments::Value* const values = a_.values == nullptr ? nullptr : a_.values + begin;
    const Dense* b[kRepeats];
#pragma unroll
    for (int r = 0; r < kRepeats; ++r) b[r] = a_.b + columns(r).first;
    if constexpr (sizeof(Dense) == 2) {  // registers of f32 are worth more
#pragma unroll
      for (int r = 0; r < kRepeats; ++r) keep(b[r]);
    }
    for (int k = team; k < entries; k += kAtOnce * teams) {
      std::int32_t id[kAtOnce];
      Acc value[kAtOnce];
#pragma unroll
      for (int u = 0; u < kAtOnce; ++u) {
        const int at = k + u * teams;
        id[u] = at < entries ? load_once(ids + at) : -1;
        value[u] = at >= entries ? Acc(0) : values != nullptr ? widen(load_once(values + at)) : Acc(1);
      }
      Held rows[kAtOnce][kRepeats] = {};
#pragma unroll
      for (int u = 0; u < kAtOnce; ++u)
#pragma unroll
        for (int r = 0; r < kRepeats; ++r)
          if (id[u] >= 0) rows[u][r] = hold(columns(r).load(row_of_b(b[r], id[u])));
#pragma unroll
      for (int u = 0; u < kAtOnce; ++u)
        each([&](int r, int e) { sum[r][e] += value[u] * widen(held(rows[u][r], e)); });
    }
  }

  /// Reduces the sums of all teams among `threads` threads; each receives the result.
  __device__ static void add_teams(int threads, Sum& sum) {
    for (int apart = threads / 2; apart >= kLanes; apart /= 2)
      each([&](int r, int e) { sum[r][e] += __shfl_xor_sync(kFullMask, sum[r][e], apart); });
  }

  /// Reduces the sums of all teams of the block; the first warp receives the result. All threads call it.
  __device__ static void add_warps(Shared& shared, Sum& sum) {
    const auto thread = static_cast<int>(threadIdx.x);
    const int warp = thread / 32;
    add_teams(32, sum);
    if (thread % 32 < kLanes) each([&](int r, int e) { shared.sums[warp][lane()][r][e] = sum[r][e]; });
    __syncthreads();
    if (warp > 0) return;
    for (int w = 1; w < kWarps; ++w) each([&](int r, int e) { sum[r][e] += shared.sums[w][lane()][r][e]; });
  }

  __device__ Acc* partial(std::int64_t piece) const {
    return a_.partials + (part_index(piece, 1, 0, a_.slices, slice_) * kLanes + lane()) * kRepeats * kVector;
  }

  __device__ void store(std::int32_t row, const Sum& sum) const {
    const std::int64_t to = caller_row(a_.row_order, row);
#pragma unroll
    for (int r = 0; r < kRepeats; ++r) {
      const Columns mine = columns(r);
      mine.store(a_.c + to * a_.ldc + mine.first, sum[r], a_.alpha, a_.beta);
    }
  }

  const Arguments& a_;
  int slice_;
};

/// Kernels are compiled once for all devices.
template <class Dense>
inline constexpr DirectPolicy kDirectPolicy = direct_policy_for(80, kDTypeOf<Dense>);

/// Blocks per multiprocessor, limited by the registers for loads in flight.
template <class Dense, int kRepeats>
inline constexpr int kDirectBlocks =
    kRepeats == 2 ? kDirectPolicy<Dense>.double_blocks : kDirectPolicy<Dense>.blocks;

/// Data that is constant for the plan (rows and their offsets) is loaded before the previous kernel has
/// ended. Pieces are first, because they are the longest work.
template <class Arguments, int kLanes, int kWidth, int kRepeats, int kAtOnce, bool kAligned>
__global__ void __launch_bounds__(kDirectThreads, kDirectBlocks<typename Arguments::Dense, kRepeats>)
    csr_direct(const __grid_constant__ Arguments arguments) {
  using Team = DirectTeam<Arguments, kLanes, kWidth, kRepeats, kAtOnce, kAligned>;
  __shared__ typename Team::Shared shared;
  admit_next_kernel();
  const int slice = slice_of_block(arguments.slices);
  if (slice >= arguments.slices) return;
  const Team team(arguments, slice);
  const auto block = static_cast<int>(blockIdx.x);
  if (block < arguments.piece_count)
    team.run_piece(block, shared);
  else
    team.run_rows(block - arguments.piece_count);
}

}  // namespace sptile::runtime::cuda
