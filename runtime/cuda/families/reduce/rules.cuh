// Rules of ReduceTeam: maxima, and the gradient of B.
#pragma once

#include <limits>

#include "runtime/cuda/families/reduce/team.cuh"

namespace sptile::runtime::cuda {

/// Blocks per multiprocessor, which limit the registers. Lanes of 16-bit elements hold eight of them.
template <class Dense>
inline constexpr int kReduceBlocks = sizeof(Dense) == 2 ? 5 : 8;

template <class Dense>
using ReduceColumns = Vec<Dense, kReduceVector<Dense>>;
template <class Dense>
using ReduceIndexes = Vec<std::int32_t, kReduceVector<Dense>>;

/// Maximum of products, multiplied by task.sign. A NaN replaces numbers and is not replaced; of equal
/// products, the one with the smallest column remains.
template <class Dense>
struct LargestRule {
  using Task = ReduceTask<Dense>;
  using Acc = typename Task::Acc;
  static constexpr int kVector = kReduceVector<Dense>, kBlocks = kReduceBlocks<Dense>;
  static constexpr int kAtOnce = kDirectFew;
  static constexpr Acc kLowest = -std::numeric_limits<Acc>::infinity();
  struct alignas(2 * sizeof(Acc)) State {
    Acc best;
    std::int32_t arg;
  };

  __device__ static State start(std::int32_t first) { return {kLowest, first}; }

  /// Entries of a team have ascending columns.
  __device__ static void accumulate(const Task& t, std::int32_t /*row*/,
                                    const ReduceEntries<Task, kAtOnce>& entries, std::int64_t first, int left,
                                    State (&states)[kVector]) {
    ReduceColumns<Dense> rows[kAtOnce] = {};
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u)
      if (entries.id[u] >= 0)
        load_columns(rows[u], t.from + entries.id[u] * t.from_ld + first, left, t.aligned);
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) {
      const Acc value = t.sign * entries.value[u];
      const bool there = entries.id[u] >= 0;
#pragma unroll
      for (int e = 0; e < kVector; ++e) {
        const Acc product = value * widen(rows[u].e[e]);
        State& state = states[e];
        if (there && !(product <= state.best) && state.best == state.best) state = {product, entries.id[u]};
      }
    }
  }

  __device__ static void merge(State& into, const State& other) {
    const bool is_nan = into.best != into.best, other_is_nan = other.best != other.best;
    const bool same = into.best == other.best || (is_nan && other_is_nan);
    const bool is_first =
        static_cast<std::uint32_t>(other.arg) < static_cast<std::uint32_t>(into.arg);  // -1 is the last
    if (other.best > into.best || (other_is_nan && !is_nan) || (same && is_first)) into = other;
  }

  __device__ static State shuffled(const State& state, int apart) {
    return {__shfl_xor_sync(kFullMask, state.best, apart), __shfl_xor_sync(kFullMask, state.arg, apart)};
  }

  __device__ static void store(const Task& t, std::int64_t row, std::int64_t first, int left,
                               const State (&states)[kVector]) {
    ReduceColumns<Dense> results;
    ReduceIndexes<Dense> args;
#pragma unroll
    for (int e = 0; e < kVector; ++e) {
      args.e[e] = states[e].arg;
      results.e[e] = narrow<Dense>(states[e].arg < 0 ? Acc(0) : t.alpha * (t.sign * states[e].best));
    }
    store_columns(t.to + row * t.to_ld + first, results, left, t.aligned);
    if (t.arg != nullptr) store_columns(t.arg + row * t.arg_ld + first, args, left, t.aligned);
  }
};

/// Sum of the rows of G where arg has the id of the row. Rows of arg are loaded first, and those of G only by
/// lanes that they select: with d entries per row of A, about one element of d.
template <class Dense>
struct SelectedRule {
  using Task = ReduceTask<Dense>;
  using Acc = typename Task::Acc;
  using State = Acc;
  static constexpr int kVector = kReduceVector<Dense>, kBlocks = sizeof(Dense) == 2 ? 6 : 7;
  /// Rows of arg in flight; those of 16-bit operands take two vectors per lane.
  static constexpr int kAtOnce = sizeof(Dense) == 2 ? kDirectFew / 2 : kDirectFew;

  __device__ static State start(std::int32_t /*first*/) { return 0; }

  __device__ static void accumulate(const Task& t, std::int32_t row,
                                    const ReduceEntries<Task, kAtOnce>& entries, std::int64_t first, int left,
                                    State (&states)[kVector]) {
    ReduceIndexes<Dense> args[kAtOnce];
    ReduceColumns<Dense> rows[kAtOnce] = {};
    unsigned selected[kAtOnce] = {};
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) {
#pragma unroll
      for (int e = 0; e < kVector; ++e) args[u].e[e] = -1;
      if (entries.id[u] >= 0)
        load_columns(args[u], static_cast<const std::int32_t*>(t.arg) + entries.id[u] * t.arg_ld + first,
                     left, t.aligned);
    }
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) {
#pragma unroll
      for (int e = 0; e < kVector; ++e) selected[u] |= args[u].e[e] == row ? 1U << e : 0U;
      if (selected[u] != 0)
        load_columns(rows[u], t.from + entries.id[u] * t.from_ld + first, left, t.aligned);
    }
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u)
#pragma unroll
      for (int e = 0; e < kVector; ++e)
        if ((selected[u] >> e & 1U) != 0) states[e] += entries.value[u] * widen(rows[u].e[e]);
  }

  __device__ static void merge(State& into, State other) { into += other; }
  __device__ static State shuffled(State state, int apart) {
    return __shfl_xor_sync(kFullMask, state, apart);
  }

  __device__ static void store(const Task& t, std::int64_t row, std::int64_t first, int left,
                               const State (&states)[kVector]) {
    ReduceColumns<Dense> results;
#pragma unroll
    for (int e = 0; e < kVector; ++e) results.e[e] = narrow<Dense>(t.alpha * states[e]);
    store_columns(t.to + row * t.to_ld + first, results, left, t.aligned);
  }
};

}  // namespace sptile::runtime::cuda
