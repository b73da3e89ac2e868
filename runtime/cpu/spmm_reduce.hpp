// Maxima over the entries of csr rows, and their gradients. Minima are maxima of negated values. Compiled
// once per instruction set.
#pragma once

#include <limits>

#include "runtime/cpu/csr_rows.hpp"
#include "runtime/cpu/sddmm.hpp"
#include "runtime/operation/spmm_reduce.hpp"

namespace sptile::runtime::SPTILE_ISA {

/// Integers as wide as the numbers that are compared, so that masks fit both.
template <class Acc>
using IndexOf = std::conditional_t<sizeof(Acc) == 8, std::int64_t, std::int32_t>;
template <class Acc, int L>
using Indexes = Vector<IndexOf<Acc>, L>;

template <class Acc, int L>
[[gnu::always_inline]] inline Indexes<Acc, L> load_indexes(const std::int32_t* from) {
  Vector<std::int32_t, L> ids;
  __builtin_memcpy(&ids, from, sizeof(ids));
  return convert<Indexes<Acc, L>>(ids);
}
template <class Acc, int L>
[[gnu::always_inline]] inline void store_indexes(std::int32_t* to, Indexes<Acc, L> indexes) {
  const auto ids = convert<Vector<std::int32_t, L>>(indexes);
  __builtin_memcpy(to, &ids, sizeof(ids));
}

/// A row of A with the operands of its products: B for maxima, G for the gradient of B.
template <class D>
struct ReducedRow {
  using Acc = Accumulator<D>;
  const CsrRow& entries;
  const PackedValues<Acc>& values;
  const Operand &rows, &arg;
  D* to;  ///< result
  Acc sign, alpha;

  [[nodiscard]] Acc factor(std::int64_t k) const { return sign * values[entries.first + k]; }
  [[nodiscard]] const D* dense(std::int64_t k) const {
    return static_cast<const D*>(rows.data) + entries.columns[k] * rows.ld;
  }
  [[nodiscard]] std::int32_t* args(std::int64_t row) const {
    return arg.data == nullptr ? nullptr : static_cast<std::int32_t*>(arg.data) + row * arg.ld;
  }
};

/// Computes the maxima of W vectors of columns from `at`. A NaN replaces numbers and is not replaced.
struct Largest {
  template <int L, int W, class D>
  [[gnu::noinline]] static void compute(const ReducedRow<D>& row, std::int64_t at) {
    using Acc = Accumulator<D>;
    using V = Vector<Acc, L>;
    using I = Indexes<Acc, L>;
    const std::int64_t count = row.entries.count;
    const IndexOf<Acc> first = count > 0 ? row.entries.columns[0] : -1;
    V best[W];
    I arg[W];
#pragma GCC unroll 4
    for (int w = 0; w < W; ++w) {
      best[w] = V{} - std::numeric_limits<Acc>::infinity();
      arg[w] = I{} + first;
    }
    for (std::int64_t k = 0; k < count; ++k) {
      const D* const b = row.dense(k) + at;
      const Acc factor = row.factor(k);
      const I column = I{} + IndexOf<Acc>{row.entries.columns[k]};
#pragma GCC unroll 4
      for (int w = 0; w < W; ++w) {
        const V product = factor * load<L>(b + w * L);
        const auto larger = (product > best[w]) | ((product != product) & (best[w] == best[w]));
        best[w] = larger ? product : best[w];
        arg[w] = larger ? column : arg[w];
      }
    }
    std::int32_t* const args = row.args(row.entries.row);
#pragma GCC unroll 4
    for (int w = 0; w < W; ++w) {
      store<L>(row.to + at + w * L, count > 0 ? row.alpha * (row.sign * best[w]) : V{});
      if (args != nullptr) store_indexes<Acc, L>(args + at + w * L, arg[w]);
    }
  }
};

/// Adds the rows of G where `arg` has the id of the row.
struct Selected {
  template <int L, int W, class D>
  [[gnu::noinline]] static void compute(const ReducedRow<D>& row, std::int64_t at) {
    using Acc = Accumulator<D>;
    using V = Vector<Acc, L>;
    using I = Indexes<Acc, L>;
    const I mine = I{} + static_cast<IndexOf<Acc>>(row.entries.row);
    V sum[W] = {};
    for (std::int64_t k = 0; k < row.entries.count; ++k) {
      const D* const g = row.dense(k) + at;
      const std::int32_t* const args = row.args(row.entries.columns[k]) + at;
      const Acc factor = row.factor(k);
#pragma GCC unroll 4
      for (int w = 0; w < W; ++w) {
        const auto selected = load_indexes<Acc, L>(args + w * L) == mine;
        sum[w] += selected ? factor * load<L>(g + w * L) : V{};
      }
    }
#pragma GCC unroll 4
    for (int w = 0; w < W; ++w) store<L>(row.to + at + w * L, row.alpha * sum[w]);
  }
};

/// Computes columns [first, end). The last vector overlaps the one before it, which computes some columns
/// twice.
template <class Rule, class D, int L = kLanes<Accumulator<D>>>
void reduce_columns(const ReducedRow<D>& row, std::int64_t first, std::int64_t end) {
  if constexpr (L > 1)
    if (end - first < L) return reduce_columns<Rule, D, L / 2>(row, first, end);
  std::int64_t at = first;
  if constexpr (L == kLanes<Accumulator<D>>)
    for (; end - at >= 4 * L; at += 4 * L) Rule::template compute<L, 4>(row, at);
  for (; end - at >= L; at += L) Rule::template compute<L, 1>(row, at);
  if (at < end) Rule::template compute<L, 1>(row, end - L);
}

template <class Rule, int kSign, class D>
void reduce_rows(const Task& task, const Chunk& chunk, int from, int arg, int to) {
  using Acc = Accumulator<D>;
  const PackedValues<Acc> values(task, true);
  const Operand& result = task.operands.dense[to];
  const std::int64_t end = chunk.last_col < task.n ? chunk.last_col : task.n;
  const Chunk rows = {chunk.first, chunk.last, 0, 0};
  if (chunk.first_col >= end) return;
  for_each_row(task, rows, [&](const CsrRow& entries) {
    const ReducedRow<D> row = {entries,
                               values,
                               task.operands.dense[from],
                               task.operands.dense[arg],
                               static_cast<D*>(result.data) + entries.row * result.ld,
                               kSign,
                               static_cast<Acc>(task.operands.alpha)};
    reduce_columns<Rule>(row, chunk.first_col, end);
  });
}

/// Kernel of spmm_max (kSign = 1) and spmm_min (-1).
template <int kSign, class D>
void reduce_chunk(const Task& task, const Chunk& chunk) noexcept {
  reduce_rows<Largest, kSign, D>(task, chunk, kReduceB, kReduceArg, kReduceC);
}

/// Kernel of spmm_max_gradient_t.
template <class D>
void select_chunk(const Task& task, const Chunk& chunk) noexcept {
  reduce_rows<Selected, 1, D>(task, chunk, kReduceTransposedG, kReduceTransposedArg, kReduceTransposedB);
}

/// Returns the dot product of two rows over the columns where `arg` is `column`.
template <int L, class D>
[[gnu::always_inline]] inline Accumulator<D> selected_dot(const D* g, const D* b, const std::int32_t* args,
                                                          std::int32_t column, std::int64_t n) {
  using Acc = Accumulator<D>;
  using V = Vector<Acc, L>;
  const Indexes<Acc, L> wanted = Indexes<Acc, L>{} + IndexOf<Acc>{column};
  V sums = {};
  std::int64_t j = 0;
  for (; n - j >= L; j += L)
    sums += load_indexes<Acc, L>(args + j) == wanted ? load<L>(g + j) * load<L>(b + j) : V{};
  Acc sum = 0;
  for (int i = 0; i < L; ++i) sum += sums[i];
  for (; j < n; ++j)
    if (args[j] == column) sum += load<1>(g + j) * load<1>(b + j);
  return sum;
}

/// Kernel of spmm_max_gradient. Computes the chunk's share of the entries of each row, as SDDMM does.
template <class D>
void values_chunk(const Task& task, const Chunk& chunk) noexcept {
  using Acc = Accumulator<D>;
  const Operand &g = task.operands.dense[kReduceGradientG], &arg = task.operands.dense[kReduceGradientArg],
                &b = task.operands.dense[kReduceGradientB];
  const auto alpha = static_cast<Acc>(task.operands.alpha);
  for_each_row(task, {chunk.first, chunk.last, 0, 0}, [&](const CsrRow& row) {
    const std::int64_t end = row.count * chunk.last_col / task.planned_n;
    for (std::int64_t k = row.count * chunk.first_col / task.planned_n; k < end; ++k) {
      const std::int32_t column = row.columns[k];
      const Acc dot = selected_dot<kLanes<Acc>>(
          static_cast<const D*>(g.data) + row.row * g.ld, static_cast<const D*>(b.data) + column * b.ld,
          static_cast<const std::int32_t*>(arg.data) + row.row * arg.ld, column, task.n);
      store<1>(
          static_cast<D*>(task.operands.dense[kReduceGradientValues].data) + list_place(task, row.first + k),
          alpha * dot);
    }
  });
}

}  // namespace sptile::runtime::SPTILE_ISA
