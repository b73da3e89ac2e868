// Rows of csr times a B of 1, 2, 4 or 8 columns. The sums of several rows are reduced together. Compiled once
// per instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "formats/layout/csr.hpp"
#include "runtime/cpu/cpu_kernels.hpp"
#include "runtime/cpu/narrow_row.hpp"

namespace sptile::runtime::SPTILE_ISA {

/// Rows [first, last) of csr with values of type V, and a B of type D.
template <class V, class D>
struct NarrowRun {
  using Acc = Accumulator<D>;
  const std::int64_t* row_ptr = nullptr;
  const std::int32_t* col = nullptr;
  std::int64_t nnz = 0;                 ///< nonzeros of all rows, at least 1
  const V* value = nullptr;             ///< ignored for a pattern
  const std::int32_t* order = nullptr;  ///< new_to_old; null: original order
  const D* b = nullptr;
  std::int64_t b_ld = 0;
  std::byte* c = nullptr;
  std::int64_t c_ld = 0;
  Acc alpha = 1, beta = 0;
  std::int64_t first = 0, last = 0;
};

/// Shuffle index for pairwise additions: neighbours of granules of kGranule lanes within blocks of kBlock
/// granules, those of `a` first, then those of `b`.
template <int kGranule, int kBlock, int kWidth>
constexpr int neighbour(int lane, int odd) {
  constexpr int kLanesOfBlock = kGranule * kBlock, kHalf = kBlock / 2;
  const int place = lane % kLanesOfBlock / kGranule;
  return (place < kHalf ? 0 : kWidth) + lane / kLanesOfBlock * kLanesOfBlock +
         (2 * (place % kHalf) + odd) * kGranule + lane % kGranule;
}
template <int kGranule, int kBlock, class V, int... I>
[[gnu::always_inline]] inline V add_neighbours(V a, V b, std::integer_sequence<int, I...>) {
  constexpr int kWidth = sizeof...(I);
  return __builtin_shufflevector(a, b, neighbour<kGranule, kBlock, kWidth>(I, 0)...) +
         __builtin_shufflevector(a, b, neighbour<kGranule, kBlock, kWidth>(I, 1)...);
}

/// Reduces kRows vectors of kRows times N lanes to N sums per row. Starts within 16 bytes, which is cheapest.
template <class Acc, int N, int kRows, int kInside, int kWidth>
[[gnu::always_inline]] inline Vector<Acc, kWidth> fold_rows(Vector<Acc, kWidth>* rows) {
  constexpr std::make_integer_sequence<int, kWidth> kLanesOfRow;
  int count = kRows;
  if constexpr (kInside > 1) {
#pragma GCC unroll 4
    for (int inside = kInside; inside > 1; inside /= 2, count /= 2) {
#pragma GCC unroll 8
      for (int i = 0; i < count / 2; ++i)
        rows[i] = add_neighbours<N, kInside>(rows[2 * i], rows[2 * i + 1], kLanesOfRow);
    }
  }
  if constexpr (kRows > kInside) {
#pragma GCC unroll 4
    for (; count > 1; count /= 2) {
#pragma GCC unroll 8
      for (int i = 0; i < count / 2; ++i)
        rows[i] = add_neighbours<N * kInside, kRows / kInside>(rows[2 * i], rows[2 * i + 1], kLanesOfRow);
    }
  }
  return rows[0];
}

/// Writes rows of C, of type R, as alpha * sum + beta * C. With beta = 0, C is not read. Full vectors are
/// computed for any row order, so that the bits do not depend on it.
template <class R, class Acc, int N, int kWidth>
class NarrowRows {
 public:
  template <class V, class D>
  explicit NarrowRows(const NarrowRun<V, D>& run)
      : c_(reinterpret_cast<R*>(run.c)),
        order_(run.order),
        ld_(run.c_ld),
        alpha_(run.alpha),
        beta_(run.beta),
        whole_(run.order == nullptr && run.c_ld == N) {}

  /// Writes `count` rows starting at row r.
  [[gnu::always_inline]] void write(std::int64_t r, std::int64_t count, Vector<Acc, kWidth> sums) const {
    sums *= alpha_;
    if (!whole_ || count * N < kWidth) return write_apart(r, count, sums);
    R* const to = c_ + r * N;
    if (beta_ != 0) sums += beta_ * load<kWidth>(to);
    store<kWidth>(to, sums);
  }

 private:
  [[gnu::noinline]] void write_apart(std::int64_t r, std::int64_t count, Vector<Acc, kWidth> sums) const {
    const auto row = [&](std::int64_t i) { return c_ + (order_ != nullptr ? order_[r + i] : r + i) * ld_; };
    Acc numbers[kWidth] = {};
    if (beta_ != 0) {
      for (std::int64_t i = 0; i < count * N; ++i) numbers[i] = load<1>(row(i / N) + i % N);
      sums += beta_ * load<kWidth>(numbers);
    }
    store<kWidth>(numbers, sums);
    for (std::int64_t i = 0; i < count; ++i) {
      R* const to = row(i);
      for (int j = 0; j < N; ++j) store<1>(to + j, numbers[i * N + j]);
    }
  }

  R* c_;
  const std::int32_t* order_;
  std::int64_t ld_;
  Acc alpha_, beta_;
  bool whole_;
};

template <class K, class R>
void multiply_narrow(const NarrowRun<typename K::V, typename K::D>& run) {
  using Acc = typename K::Acc;
  constexpr int kRows = K::kEntries;
  constexpr int kFit = static_cast<int>(16 / (K::N * sizeof(Acc)));
  constexpr int kInside = kFit > 1 ? (kFit < kRows ? kFit : kRows) : 1;
  const typename K::V* const value = run.value;
  const typename K::D* const b = run.b;
  const std::int32_t* const col = run.col;
  const std::int64_t nnz = run.nnz, last = run.last, ld = run.b_ld;
  const NarrowRows<R, Acc, K::N, K::kWidth> c(run);
  const std::int64_t* ends = run.row_ptr + run.first + 1;
  std::int64_t k = ends[-1];
  std::int64_t last_ends[kRows];
  for (std::int64_t r = run.first; r < last; r += kRows, ends += kRows) {
    if (__builtin_expect(last - r < kRows, 0)) {  // missing rows are treated as empty
      for (int i = 0; i < kRows; ++i) last_ends[i] = ends[i < last - r ? i : last - r - 1];
      ends = last_ends;
    }
    typename K::Sums rows[kRows];
    const auto sum_next = [&](int i) __attribute__((always_inline)) {
      rows[i] = sum_row<K>(value, b, ld, col, k, ends[i], nnz);
      k = ends[i];
    };
    if constexpr (K::kReads == Reads::packed &&
                  std::is_same_v<typename K::V, Acc>) {  // otherwise code size matters more
#pragma GCC unroll 8
      for (int i = 0; i < kRows; ++i) sum_next(i);
    } else {
#pragma GCC unroll 1
      for (int i = 0; i < kRows; ++i) sum_next(i);
    }
    c.write(r, last - r < kRows ? last - r : kRows, fold_rows<Acc, K::N, kRows, kInside, K::kWidth>(rows));
  }
}

template <class V, class D>
using NarrowFn = void (*)(const NarrowRun<V, D>&);

/// Kernel for N columns; null if a vector has fewer lanes.
template <class V, class D, class R, int N, int kStep, Reads kReads>
constexpr NarrowFn<V, D> narrow_of(bool pattern) {
  if constexpr (N > kLanes<Accumulator<D>>)
    return nullptr;
  else if constexpr (std::is_same_v<V, D>)
    return pattern ? multiply_narrow<NarrowKernel<V, D, N, kStep, true, kReads>, R>
                   : multiply_narrow<NarrowKernel<V, D, N, kStep, false, kReads>, R>;
  else
    return multiply_narrow<NarrowKernel<V, D, N, kStep, false, kReads>, R>;
}

/// Returns the kernel for n columns; null if there is none.
template <class V, class D, class R, Reads kReads>
NarrowFn<V, D> find_narrow(std::int64_t n, bool small, bool pattern) {
  switch (n) {
    case 1:
      return small ? narrow_of<V, D, R, 1, 4, kReads>(pattern) : narrow_of<V, D, R, 1, 8, kReads>(pattern);
    case 2:
      return small ? narrow_of<V, D, R, 2, 4, kReads>(pattern) : narrow_of<V, D, R, 2, 8, kReads>(pattern);
    case 4:
      return narrow_of<V, D, R, 4, 4, kReads>(pattern);
    case 8:
      return narrow_of<V, D, R, 8, 4, kReads>(pattern);
    default:
      return nullptr;
  }
}
/// Size in bytes from which entries are prefetched, about 10 times the L2.
inline constexpr std::int64_t kFarEntryBytes = 12 << 20;

template <class V, class D, class R>
NarrowFn<V, D> find_narrow(const Task& task, bool pattern) {
  const RowSteps& steps = task.steps;
  if (task.operands.dense[kSpmmB].ld != task.n)
    return find_narrow<V, D, R, Reads::apart>(task.n, steps.small, pattern);
  if (task.n == 1 && !steps.small) {
    if constexpr (sizeof(Accumulator<D>) == sizeof(float))
      if (steps.runs) return narrow_of<V, D, R, 1, 8, Reads::runs>(pattern);
    constexpr auto kEntryBytes = static_cast<std::int64_t>(sizeof(V) + sizeof(std::int32_t));
    if (steps.are_many && task.format.nnz * kEntryBytes >= kFarEntryBytes)
      return narrow_of<V, D, R, 1, 8, Reads::far>(pattern);
  }
  return find_narrow<V, D, R, Reads::packed>(task.n, steps.small, pattern);
}

/// Runs the kernel of `csr` for few columns. Returns false, without effect, if there is none.
template <class V, class D, class R>
bool run_narrow(const Task& task, const Chunk& chunk) {
  using Acc = Accumulator<D>;
  const formats::CsrView csr = formats::as_csr(task.format);
  const Operand &b = task.operands.dense[kSpmmB], &c = task.operands.dense[kSpmmC];
  if (task.format.nnz == 0) return false;
  const auto fn = find_narrow<V, D, R>(task, csr.values.data == nullptr);
  if (fn == nullptr) return false;
  if (chunk.first_col != 0) return true;  // the chunk with the first column computes all of them
  fn({.row_ptr = csr.row_ptr.data(),
      .col = csr.col_idx.data(),
      .nnz = task.format.nnz,
      .value = static_cast<const V*>(csr.values.data),
      .order = task.row_order,
      .b = static_cast<const D*>(b.data),
      .b_ld = b.ld,
      .c = static_cast<std::byte*>(c.data),
      .c_ld = c.ld,
      .alpha = static_cast<Acc>(task.operands.alpha),
      .beta = static_cast<Acc>(task.operands.beta),
      .first = chunk.first,
      .last = chunk.last});
  return true;
}

}  // namespace sptile::runtime::SPTILE_ISA
