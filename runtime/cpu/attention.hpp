// Column loops of softmax, attention and reductions for pairs of types. Compiled once per instruction set.
#pragma once

#include <limits>
#include <type_traits>

#include "runtime/cpu/dot_kernel.hpp"
#include "runtime/cpu/lanes.hpp"
#include "runtime/cpu/leaky_rows.hpp"
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

/// Integers as wide as the numbers that are compared, so that masks fit both.
template <class Acc, int L>
using Indexes = Vector<std::conditional_t<sizeof(Acc) == 8, std::int64_t, std::int32_t>, L>;

template <class Acc, int L>
[[gnu::always_inline]] inline Indexes<Acc, L> load_ids(const std::int32_t* from) {
  Vector<std::int32_t, L> ids;
  __builtin_memcpy(&ids, from, sizeof(ids));
  return convert<Indexes<Acc, L>>(ids);
}

template <class D, int L, int W>
void larger_columns(const RowList& rows, const double* factors, bool begin, int first, Accumulator<D>* best,
                    std::int32_t* arg) {
  using Acc = Accumulator<D>;
  using V = Vector<Acc, L>;
  using I = Indexes<Acc, L>;
  V largest[W];
  I from[W];
#pragma GCC unroll 4
  for (int w = 0; w < W; ++w) {
    largest[w] = begin ? V{} - std::numeric_limits<Acc>::infinity() : load<L>(best + first + w * L);
    from[w] = begin ? I{} + rows.ids[0] : load_ids<Acc, L>(arg + first + w * L);
  }
  for (std::int64_t k = 0; k < rows.count; ++k) {
    const D* const row = row_of<D>(rows, k) + first;
    const Acc factor = static_cast<Acc>(factors[k]);
    const I id = I{} + rows.ids[k];
#pragma GCC unroll 4
    for (int w = 0; w < W; ++w) {
      const V product = factor * load<L>(row + w * L);
      // NOLINTNEXTLINE(misc-redundant-expression): a NaN differs from itself
      const auto larger = (product > largest[w]) | ((product != product) & (largest[w] == largest[w]));
      largest[w] = larger ? product : largest[w];
      from[w] = larger ? id : from[w];
    }
  }
#pragma GCC unroll 4
  for (int w = 0; w < W; ++w) {
    store<L>(best + first + w * L, largest[w]);
    const auto ids = convert<Vector<std::int32_t, L>>(from[w]);
    __builtin_memcpy(arg + first + w * L, &ids, sizeof(ids));
  }
}

template <class D>
void larger_list(const RowList& rows, const double* factors, bool begin, int columns, std::byte* bytes,
                 std::int32_t* arg) {
  constexpr int kStep = kVectorBytes / static_cast<int>(sizeof(Accumulator<D>));
  auto* const best = reinterpret_cast<Accumulator<D>*>(bytes);
  int c = 0;
  for (; c + 4 * kStep <= columns; c += 4 * kStep)
    larger_columns<D, kStep, 4>(rows, factors, begin, c, best, arg);
  for (; c + kStep <= columns; c += kStep) larger_columns<D, kStep, 1>(rows, factors, begin, c, best, arg);
  for (; c < columns; ++c) larger_columns<D, 1, 1>(rows, factors, begin, c, best, arg);
}

/// Adds the elements of W vectors of L columns of each row where `arg` is the id.
template <class D, int L, int W>
void add_where_columns(const RowList& rows, const SelectedBy& by, const double* weights, int first,
                       Accumulator<D>* sums) {
  using Acc = Accumulator<D>;
  using V = Vector<Acc, L>;
  using I = Indexes<Acc, L>;
  const I id = I{} + by.id;
  V sum[W];
#pragma GCC unroll 4
  for (int w = 0; w < W; ++w) sum[w] = load<L>(sums + first + w * L);
  for (std::int64_t k = 0; k < rows.count; ++k) {
    const D* const row = row_of<D>(rows, k) + first;
    const std::int32_t* const arg = by.arg + rows.ids[k] * by.ld + first;
    const Acc weight = static_cast<Acc>(weights[k]);
#pragma GCC unroll 4
    for (int w = 0; w < W; ++w) {
      const V product = weight * load<L>(row + w * L);
      sum[w] += load_ids<Acc, L>(arg + w * L) == id ? product : V{};
    }
  }
#pragma GCC unroll 4
  for (int w = 0; w < W; ++w) store<L>(sums + first + w * L, sum[w]);
}

template <class D>
void add_where(const RowList& rows, const SelectedBy& by, const double* weights, int columns,
               std::byte* bytes) {
  constexpr int kStep = kVectorBytes / static_cast<int>(sizeof(Accumulator<D>));
  auto* const sums = reinterpret_cast<Accumulator<D>*>(bytes);
  int c = 0;
  for (; c + 4 * kStep <= columns; c += 4 * kStep) add_where_columns<D, kStep, 4>(rows, by, weights, c, sums);
  for (; c + kStep <= columns; c += kStep) add_where_columns<D, kStep, 1>(rows, by, weights, c, sums);
  for (; c < columns; ++c) add_where_columns<D, 1, 1>(rows, by, weights, c, sums);
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
inline constexpr RowMath kRowMath = {.read = read_number<D>,
                                     .write = write_number<R>,
                                     .dots = dot_list<D>,
                                     .squares = square_list<D>,
                                     .add = add_list<D>,
                                     .larger = larger_list<D>,
                                     .add_where = add_where<D>,
                                     .store = store_sums<D, R>,
                                     .leaky_dots = leaky_dots<D>,
                                     .leaky_add = leaky_add<D>,
                                     .project = project<D>,
                                     .leaky_outer = leaky_outer<D>,
                                     .one = &kOne<D>,
                                     .operand_bytes = sizeof(D),
                                     .result_bytes = sizeof(R),
                                     .wide = sizeof(D) == 8};

/// Kernel of an operation for operands of type D and results of type R.
template <void (*kRows)(const Task&, const Chunk&, const RowMath&) noexcept, class D, class R = D>
void row_math_chunk(const Task& task, const Chunk& chunk) noexcept {
  kRows(task, chunk, kRowMath<D, R>);
}

}  // namespace sptile::runtime::SPTILE_ISA
