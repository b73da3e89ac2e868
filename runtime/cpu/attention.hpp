// Column loops of softmax and attention for pairs of types. Compiled once per instruction set.
#pragma once

#include "runtime/cpu/dot_kernel.hpp"
#include "runtime/cpu/lanes.hpp"
#include "runtime/cpu/row_math.hpp"

namespace sptile::runtime::SPTILE_ISA {

template <class D>
double read_number(const void* list, std::int64_t i) {
  return static_cast<double>(load<1>(static_cast<const D*>(list) + i));
}

template <class R>
void write_number(void* list, std::int64_t i, double x) {
  store<1>(static_cast<R*>(list) + i, static_cast<Accumulator<R>>(x));
}

template <class D>
[[gnu::always_inline]] inline const D* row_of(const RowList& rows, std::int64_t k) {
  return static_cast<const D*>(rows.data) + rows.ids[k] * rows.ld;
}

template <class D>
void dot_list(const void* x, const RowList& rows, std::int64_t n, double* to) {
  for (std::int64_t k = 0; k < rows.count; k += kDots) {
    const D* y[kDots];
    Accumulator<D> dots[kDots];
    const int count = rows.count - k < kDots ? static_cast<int>(rows.count - k) : kDots;
    for (int j = 0; j < count; ++j) y[j] = row_of<D>(rows, k + j);
    dot_rows(static_cast<const D*>(x), y, count, n, dots);
    for (int j = 0; j < count; ++j) to[k + j] = static_cast<double>(dots[j]);
  }
}

template <class D>
void square_list(const RowList& rows, std::int64_t n, double* to) {
  for (std::int64_t k = 0; k < rows.count; ++k) {
    const D* const y = row_of<D>(rows, k);
    Accumulator<D> square;
    dot_rows<D, 1>(y, &y, n, &square);
    to[k] = static_cast<double>(square);
  }
}

/// Adds W vectors of L columns of each row.
template <class D, int L, int W>
void add_columns(const RowList& rows, const double* weights, int first, Accumulator<D>* sums) {
  using Acc = Accumulator<D>;
  Vector<Acc, L> sum[W];
#pragma GCC unroll 4
  for (int w = 0; w < W; ++w) sum[w] = load<L>(sums + first + w * L);
  for (std::int64_t k = 0; k < rows.count; ++k) {
    const D* const row = row_of<D>(rows, k) + first;
    const Acc weight = static_cast<Acc>(weights[k]);
#pragma GCC unroll 4
    for (int w = 0; w < W; ++w) sum[w] += weight * load<L>(row + w * L);
  }
#pragma GCC unroll 4
  for (int w = 0; w < W; ++w) store<L>(sums + first + w * L, sum[w]);
}

template <class D>
void add_list(const RowList& rows, const double* weights, int columns, std::byte* bytes) {
  constexpr int kStep = kVectorBytes / static_cast<int>(sizeof(Accumulator<D>));
  auto* const sums = reinterpret_cast<Accumulator<D>*>(bytes);
  int c = 0;
  for (; c + 4 * kStep <= columns; c += 4 * kStep) add_columns<D, kStep, 4>(rows, weights, c, sums);
  for (; c + kStep <= columns; c += kStep) add_columns<D, kStep, 1>(rows, weights, c, sums);
  for (; c < columns; ++c) add_columns<D, 1, 1>(rows, weights, c, sums);
}

template <class D, class R>
void store_sums(const std::byte* bytes, double scale, int columns, void* row) {
  const auto* const sums = reinterpret_cast<const Accumulator<D>*>(bytes);
  for (int c = 0; c < columns; ++c)
    store<1>(static_cast<R*>(row) + c,
             static_cast<Accumulator<R>>(sums[c] * static_cast<Accumulator<D>>(scale)));
}

template <class D>
inline constexpr D kOne = D{1};
template <>
inline constexpr Half kOne<Half> = {0x3c00};
template <>
inline constexpr BFloat16 kOne<BFloat16> = {0x3f80};

template <class D, class R>
inline constexpr RowMath kRowMath = {read_number<D>, write_number<R>,  dot_list<D>, square_list<D>,
                                     add_list<D>,    store_sums<D, R>, &kOne<D>,    sizeof(D),
                                     sizeof(R),      sizeof(D) == 8};

/// Kernel of an operation for operands of type D and results of type R.
template <void (*kRows)(const Task&, const Chunk&, const RowMath&) noexcept, class D, class R = D>
void row_math_chunk(const Task& task, const Chunk& chunk) noexcept {
  kRows(task, chunk, kRowMath<D, R>);
}

}  // namespace sptile::runtime::SPTILE_ISA
