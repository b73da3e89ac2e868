// Device body of the kernels that reduce rows of csr. A team of lanes holds a row of B; the teams of a row
// process its entries in turns, and their states are merged by shuffles in a fixed order. Blocks process rows
// that are too long for a warp.
//
// A rule defines the state of an element:
//   State, start(first)                first: column of the team's first entry, or -1
//   accumulate(...)                    entries of one team
//   merge(State& into, State other)    in any order with the same result, or in the order of the calls
//   store(...)
#pragma once

#include "runtime/cuda/collective/epilogue.cuh"
#include "runtime/cuda/collective/split.cuh"
#include "runtime/cuda/device/slices.cuh"
#include "runtime/cuda/families/reduce/task.cuh"

namespace sptile::runtime::cuda {

/// Entries that a team has in flight; -1: none.
template <class Acc, int kAtOnce>
struct ReduceEntries {
  std::int32_t id[kAtOnce];
  Acc value[kAtOnce];

  template <class Value>
  __device__ ReduceEntries(const std::int32_t* ids, const Value* values, int k, int step, int entries) {
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) {
      const int at = k + u * step;
      id[u] = at < entries ? load_once(ids + at) : -1;
      value[u] = at < entries && values != nullptr ? widen(load_once(values + at)) : Acc(1);
    }
  }
};

/// kLanes = 0: any number of lanes, of rows that need not be aligned.
template <class Rule, int kLanes>
class ReduceTeam {
 public:
  using Task = typename Rule::Task;
  using State = typename Rule::State;
  static constexpr bool kAligned = kLanes > 0;
  static constexpr int kVector = kReduceVector<typename Task::Dense>, kWarps = kDirectThreads / 32;
  using States = State[kVector];
  struct Shared {
    State states[kWarps][kAligned ? kLanes : 32][kVector];
    bool last;
  };

  __device__ ReduceTeam(const Task& task, int slice)
      : t_(task),
        slice_(slice),
        columns_(columns_of_lane<typename Task::Dense, kAligned>(std::int64_t{slice} * lanes() + lane(),
                                                                 task.n)) {}

  __device__ void run_rows(int block) const {
    const DirectRow mine = direct_row(t_, block);
    await_previous_kernel();
    States states;
    accumulate(mine.row, mine.begin, mine.entries, mine.thread / lanes(), mine.threads / lanes(), states);
    merge_teams(mine.threads, states);
    if (mine.there && mine.thread < lanes()) store(mine.row, states);
  }

  __device__ void run_piece(int index, Shared& shared) const {
    const CsrPiece piece = t_.pieces[index];
    const CsrSplit split = t_.splits[piece.split];
    await_previous_kernel();
    const auto thread = static_cast<int>(threadIdx.x);
    const int teams = kDirectThreads / lanes();
    States states;
    accumulate(split.row, piece.entry, piece.entries, thread / lanes(), teams, states);
    merge_warps(shared, states);
    if (split.pieces > 1) {
      if (thread < lanes()) each([&](int e) { store_vector<Cache::l2>(partial(index) + e, states[e]); });
      unsigned* const arrived = t_.arrived + part_index(piece.split, 1, 0, t_.slices, slice_);
      if (!block_arrives_last(arrived, split.pieces, shared.last)) return;
      each([&](int e) { states[e] = Rule::start(-1); });
      for (std::int32_t p = thread / lanes(); p < split.pieces; p += teams) {
        const State* const from = partial(split.first_piece + p);
        each([&](int e) { Rule::merge(states[e], load_vector<State, Cache::l2>(from + e)); });
      }
      merge_warps(shared, states);
    }
    if (thread < lanes()) store(split.row, states);
  }

 private:
  template <class Body>
  __device__ static void each(const Body& body) {
#pragma unroll
    for (int e = 0; e < kVector; ++e) body(e);
  }

  __device__ int lanes() const { return kAligned ? kLanes : t_.lanes; }
  __device__ int lane() const { return static_cast<int>(threadIdx.x) % lanes(); }

  /// Accumulates entries team, team + teams, ... of a row.
  __device__ void accumulate(std::int32_t row, std::int64_t begin, int entries, int team, int teams,
                             States& states) const {
    const std::int32_t* const ids = t_.columns + begin;
    const auto* const values = t_.values == nullptr ? nullptr : t_.values + begin;
    const std::int32_t first = team < entries ? load_once(ids + team) : -1;
    each([&](int e) { states[e] = Rule::start(first); });
    const std::int32_t id = caller_row(t_.row_order, row);
    for (int k = team; k < entries; k += Rule::kAtOnce * teams)
      Rule::template accumulate<kAligned>(
          t_, id, ReduceEntries<typename Task::Acc, Rule::kAtOnce>(ids, values, k, teams, entries), columns_,
          states);
  }

  /// Merges the states of all teams among `threads` threads; each receives the result.
  __device__ void merge_teams(int threads, States& states) const {
    for (int apart = threads / 2; apart >= lanes(); apart /= 2)
      each([&](int e) { Rule::merge(states[e], Rule::shuffled(states[e], apart)); });
  }

  /// Merges the states of all teams of the block; the first warp receives the result. All threads call it.
  __device__ void merge_warps(Shared& shared, States& states) const {
    const int thread = static_cast<int>(threadIdx.x), warp = thread / 32;
    merge_teams(32, states);
    if (thread % 32 < lanes()) each([&](int e) { shared.states[warp][lane()][e] = states[e]; });
    __syncthreads();
    if (warp > 0) return;
    for (int w = 1; w < kWarps; ++w)
      each([&](int e) { Rule::merge(states[e], shared.states[w][lane()][e]); });
  }

  __device__ State* partial(std::int64_t piece) const {
    return reinterpret_cast<State*>(t_.partials) +
           (part_index(piece, 1, 0, t_.slices, slice_) * lanes() + lane()) * kVector;
  }

  __device__ void store(std::int32_t row, const States& states) const {
    Rule::template store<kAligned>(t_, caller_row(t_.row_order, row), columns_, states);
  }

  const Task& t_;
  int slice_;
  ReduceColumns columns_;
};

/// Data that is constant for the plan is loaded before the previous kernel has ended. Pieces are first,
/// because they are the longest work.
template <class Rule, int kLanes>
__global__ void __launch_bounds__(kDirectThreads, Rule::kBlocks)
    csr_reduce(const __grid_constant__ typename Rule::Task task) {
  using Team = ReduceTeam<Rule, kLanes>;
  __shared__ typename Team::Shared shared;
  admit_next_kernel();
  const int slice = slice_of_block(task.slices);
  if (slice >= task.slices) return;
  const Team team(task, slice);
  const auto block = static_cast<int>(blockIdx.x);
  if (block < task.piece_count)
    team.run_piece(block, shared);
  else
    team.run_rows(block - task.piece_count);
}

}  // namespace sptile::runtime::cuda
