// Rules of ReduceTeam: maxima, and the gradient of B.
#pragma once

#include <limits>

#include "runtime/cuda/families/reduce/team.cuh"

namespace sptile::runtime::cuda {

/// Blocks per multiprocessor, which limit the registers. Lanes of 16-bit elements hold eight of them.
template <class Dense>
inline constexpr int kReduceBlocks = sizeof(Dense) == 2 ? 5 : 8;

template <class Dense>
using ReduceElements = Vec<Dense, kReduceVector<Dense>>;
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
  template <bool kAligned>
  __device__ static void accumulate(const Task& t, std::int32_t /*row*/,
                                    const ReduceEntries<Acc, kAtOnce>& entries, const ReduceColumns& columns,
                                    State (&states)[kVector]) {
    ReduceWords<Dense> rows[kAtOnce];
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u)
      rows[u].template load<kAligned>(entries.id[u] >= 0, t.from + columns.first, entries.id[u], t.from_ld,
                                      columns.left);
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) {
      const Acc value = t.sign * entries.value[u];
      const bool there = entries.id[u] >= 0;
#pragma unroll
      for (int e = 0; e < kVector; ++e) {
        const Acc product = value * widen(rows[u][e]);
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

  template <bool kAligned>
  __device__ static void store(const Task& t, std::int64_t row, const ReduceColumns& columns,
                               const State (&states)[kVector]) {
    ReduceElements<Dense> results;
    ReduceIndexes<Dense> args;
#pragma unroll
    for (int e = 0; e < kVector; ++e) {
      args.e[e] = states[e].arg;
      results.e[e] = narrow<Dense>(states[e].arg < 0 ? Acc(0) : t.alpha * (t.sign * states[e].best));
    }
    store_columns<kAligned>(t.to + row * t.to_ld + columns.first, results, columns.left);
    if (t.arg != nullptr) store_columns<kAligned>(t.arg + row * t.arg_ld + columns.first, args, columns.left);
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

  template <bool kAligned>
  __device__ static void accumulate(const Task& t, std::int32_t row,
                                    const ReduceEntries<Acc, kAtOnce>& entries, const ReduceColumns& columns,
                                    State (&states)[kVector]) {
    const std::int32_t* const arg_0 = t.arg + columns.first;
    ReduceIndexes<Dense> args[kAtOnce];
    ReduceWords<Dense> rows[kAtOnce];
    unsigned selected[kAtOnce] = {};
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) {
#pragma unroll
      for (int e = 0; e < kVector; ++e) args[u].e[e] = -1;
      if (entries.id[u] >= 0)
        load_columns<kAligned>(args[u], part_of_row<kAligned>(arg_0, entries.id[u], t.arg_ld), columns.left);
    }
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) {
#pragma unroll
      for (int e = 0; e < kVector; ++e) selected[u] |= args[u].e[e] == row ? 1U << e : 0U;
      rows[u].template load<kAligned>(selected[u] != 0, t.from + columns.first, entries.id[u], t.from_ld,
                                      columns.left);
    }
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u)
#pragma unroll
      for (int e = 0; e < kVector; ++e)
        if ((selected[u] >> e & 1U) != 0) states[e] += entries.value[u] * widen(rows[u][e]);
  }

  __device__ static void merge(State& into, State other) { into += other; }
  __device__ static State shuffled(State state, int apart) {
    return __shfl_xor_sync(kFullMask, state, apart);
  }

  template <bool kAligned>
  __device__ static void store(const Task& t, std::int64_t row, const ReduceColumns& columns,
                               const State (&states)[kVector]) {
    ReduceElements<Dense> results;
#pragma unroll
    for (int e = 0; e < kVector; ++e) results.e[e] = narrow<Dense>(t.alpha * states[e]);
    store_columns<kAligned>(t.to + row * t.to_ld + columns.first, results, columns.left);
  }
};

}  // namespace sptile::runtime::cuda
