// Rows of csr times a B of 1, 2, 4 or 8 columns. A vector holds the products of several entries of a row, and
// the sums of several rows are formed at once. The last step of every row is masked, so that neither the
// lengths of short rows nor what is left of long ones is a branch that the processor has to guess. Compiled
// once per instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "formats/layout/csr.hpp"
#include "runtime/cpu/cpu_kernels.hpp"
#include "runtime/cpu/lanes.hpp"
#include "runtime/cpu/row_kernel.hpp"

namespace sptile::runtime::SPTILE_ISA {

/// Rows [first, last) of csr with values of type V, times a B of type D.
template <class V, class D>
struct NarrowRun {
  using Acc = Accumulator<D>;
  const std::int64_t* row_ptr = nullptr;
  const std::int32_t* col = nullptr;
  std::int64_t nnz = 0;                 ///< of all rows, at least 1
  const V* value = nullptr;             ///< not read for a pattern
  const std::int32_t* order = nullptr;  ///< rows of C; null: in order
  const D* b = nullptr;
  std::int64_t b_ld = 0;
  std::byte* c = nullptr;
  std::int64_t c_ld = 0;
  Acc alpha = 1, beta = 0;
  std::int64_t first = 0, last = 0;
};

/// Entries of a row that are multiplied at a time, at most.
inline constexpr int kMostStep = 8;

/// The layout of a step: kVectors vectors of kWidth sums, N for each entry.
template <class Acc, int N, int kStep>
struct StepShape {
  static constexpr int kWhole = kStep * N;
  /// Elements of one column are collected one by one, which takes longer for wider vectors.
  static constexpr int kMost = N == 1 && kVectorBytes > 32 ? kLanes<Acc> * 32 / kVectorBytes : kLanes<Acc>;
  static constexpr int kWidth = kMost < kWhole ? kMost : kWhole;
  static constexpr int kVectors = kWhole / kWidth;
  static constexpr int kEntries = kWidth / N;  ///< of one vector, and rows that are finished at once
};

/// One vector after the other.
template <class T, int L, int... I>
[[gnu::always_inline]] inline Vector<T, 2 * L> join(Vector<T, L> a, Vector<T, L> b,
                                                    std::integer_sequence<int, I...>) {
  if constexpr (L == 1)
    return Vector<T, 2>{a, b};
  else
    return __builtin_shufflevector(a, b, I...);
}

/// Elements of a B of one column, as they are in memory. Columns are read two at a time.
template <class T, bool kPacked, int... I>
[[gnu::always_inline]] inline Vector<T, sizeof...(I)> load_elements(const T* b, std::int64_t ld,
                                                                    const std::int32_t* col,
                                                                    std::integer_sequence<int, I...>) {
  std::uint64_t two[sizeof...(I) / 2];
  __builtin_memcpy(two, col, sizeof(two));
  const auto element = [&](int i) {
    const std::uint64_t column = i % 2 == 0 ? two[i / 2] & 0xffffffffu : two[i / 2] >> 32;
    return b[kPacked ? column : column * static_cast<std::uint64_t>(ld)];
  };
#if defined(__AVX__)
  // Where they are inserted from memory, as compilers do, Zen 4 takes a tenth longer.
  if constexpr (std::is_same_v<T, float> && sizeof...(I) == 4) {
    __m128 four = _mm_set_ss(element(0));
    four = _mm_insert_ps(four, _mm_set_ss(element(1)), 0x10);
    four = _mm_insert_ps(four, _mm_set_ss(element(2)), 0x20);
    return bits_as<Vector<T, 4>>(_mm_insert_ps(four, _mm_set_ss(element(3)), 0x30));
  }
#endif
  return Vector<T, sizeof...(I)>{element(I)...};
}

/// N elements of each of kEntries rows of B, as they are in memory. Where kPacked, `ld` is N.
template <class T, int N, int kEntries, bool kPacked>
[[gnu::always_inline]] inline Vector<T, kEntries * N> load_rows(const T* b, std::int64_t ld,
                                                                const std::int32_t* col) {
  if constexpr (kEntries == 1) {
    Vector<T, N> x;
    __builtin_memcpy(&x, b + *col * (kPacked ? std::int64_t{N} : ld), sizeof(x));
    return x;
  } else if constexpr (N == 1 && (kEntries <= 4 || sizeof(T) == sizeof(std::uint16_t))) {
    return load_elements<T, kPacked>(b, ld, col, std::make_integer_sequence<int, kEntries>());
  } else {
    constexpr int kHalf = kEntries / 2;
    return join<T, kHalf * N>(load_rows<T, N, kHalf, kPacked>(b, ld, col),
                              load_rows<T, N, kHalf, kPacked>(b, ld, col + kHalf),
                              std::make_integer_sequence<int, kEntries * N>());
  }
}

/// The same, widened to the type of the sums.
template <class D, int N, int kEntries, bool kPacked>
[[gnu::always_inline]] inline Vector<Accumulator<D>, kEntries * N> gather_rows(const D* b, std::int64_t ld,
                                                                               const std::int32_t* col) {
  if constexpr (sizeof(D) == sizeof(std::uint16_t))
    return widen_bits<kEntries * N, D>(
        load_rows<std::uint16_t, N, kEntries, kPacked>(reinterpret_cast<const std::uint16_t*>(b), ld, col));
  else
    return load_rows<D, N, kEntries, kPacked>(b, ld, col);
}

/// A vector in the first lanes of a wider one, whose others may have any number.
template <class Acc, int L, int kWidth>
[[gnu::always_inline]] inline Vector<Acc, kWidth> stretch(Vector<Acc, L> v) {
  constexpr std::size_t kFrom = L * sizeof(Acc);
  if constexpr (L == kWidth)
    return v;
  else if constexpr (kFrom < 16)
    return stretch<Acc, 2 * L, kWidth>(__builtin_shufflevector(v, v, 0, 1, 0, 1));
#if defined(__AVX__)
  else if constexpr (kFrom == 16)
    return stretch<Acc, 2 * L, kWidth>(
        bits_as<Vector<Acc, 2 * L>>(_mm256_castps128_ps256(bits_as<__m128>(v))));
#endif
#if defined(__AVX512F__)
  else if constexpr (kFrom == 32)
    return bits_as<Vector<Acc, 2 * L>>(_mm512_castps256_ps512(bits_as<__m256>(v)));
#endif
  else
    return stretch<Acc, 2 * L, kWidth>(join<Acc, L>(v, v, std::make_integer_sequence<int, 2 * L>()));
}

/// Each of the first values N times.
template <class Acc, int N, class V, int... I>
[[gnu::always_inline]] inline Vector<Acc, sizeof...(I)> load_repeated(const V* value,
                                                                      std::integer_sequence<int, I...>) {
  constexpr int kWidth = sizeof...(I), kEntries = kWidth / N;
  if constexpr (N == 1) {
    return load<kWidth>(value);
  } else if constexpr (kEntries == 1) {
    return Vector<Acc, kWidth>{} + load<1>(value);
  } else if constexpr (kWidth * sizeof(Acc) > 16) {
    const auto wide = stretch<Acc, kEntries, kWidth>(load<kEntries>(value));
    return __builtin_shufflevector(wide, wide, (I / N)...);
  } else {
    return Vector<Acc, kWidth>{load<1>(value + I / N)...};
  }
}

/// kLanes2 lanes of ones, then kLanes2 lanes of zeros.
template <class Acc, int kLanes2>
struct alignas(64) LaneMask {
  using Bits = std::conditional_t<sizeof(Acc) == sizeof(std::int32_t), std::int32_t, std::int64_t>;
  Bits bits[2 * kLanes2];

  constexpr LaneMask() : bits{} {
    for (int i = 0; i < kLanes2; ++i) bits[i] = -1;
  }
};
template <class Acc, int kLanes2>
inline constexpr LaneMask<Acc, kLanes2> kLaneMask;

/// The lanes of `x` below `count`, where `x` starts at lane `first` of kAll; 0 in the others.
template <class Acc, int kAll, int kWidth>
[[gnu::always_inline]] inline Vector<Acc, kWidth> keep_lanes(Vector<Acc, kWidth> x, std::int64_t count,
                                                             int first) {
#if defined(__AVX512VL__)
  const auto bits =
      static_cast<std::uint16_t>(_bzhi_u64(~std::uint64_t{0}, static_cast<unsigned>(count)) >> first);
  const auto few = static_cast<__mmask8>(bits);
  using Sums = Vector<Acc, kWidth>;
  if constexpr (std::is_same_v<Acc, float>) {
    if constexpr (kWidth == 16) return bits_as<Sums>(_mm512_maskz_mov_ps(bits, bits_as<__m512>(x)));
    if constexpr (kWidth == 8) return bits_as<Sums>(_mm256_maskz_mov_ps(few, bits_as<__m256>(x)));
    if constexpr (kWidth == 4) return bits_as<Sums>(_mm_maskz_mov_ps(few, bits_as<__m128>(x)));
  } else {
    if constexpr (kWidth == 8) return bits_as<Sums>(_mm512_maskz_mov_pd(few, bits_as<__m512d>(x)));
    if constexpr (kWidth == 4) return bits_as<Sums>(_mm256_maskz_mov_pd(few, bits_as<__m256d>(x)));
    if constexpr (kWidth == 2) return bits_as<Sums>(_mm_maskz_mov_pd(few, bits_as<__m128d>(x)));
  }
#else
  Vector<typename LaneMask<Acc, kAll>::Bits, kWidth> mask;
  __builtin_memcpy(&mask, kLaneMask<Acc, kAll>.bits + kAll - count + first, sizeof(mask));
  return bits_as<Vector<Acc, kWidth>>(bits_as<decltype(mask)>(x) & mask);
#endif
}

/// How entries and rows of B are read. Rows of B lie apart, or packed, that is without gaps. Where they are
/// packed and matrices have long rows, the columns of many steps follow each other (runs), or entries come
/// from beyond the second cache (far) and are asked for ahead.
enum class Reads { apart, packed, runs, far };

/// What a kernel is compiled for: values of type V (none are stored where kPattern), a B of type D of N
/// columns, kStep entries at a time.
template <class Value, class Dense, int kColumns, int kEntriesOfStep, bool kOnes, Reads kReading>
struct NarrowKernel {
  using V = Value;
  using D = Dense;
  using Acc = Accumulator<D>;
  static constexpr int N = kColumns, kStep = kEntriesOfStep;
  static constexpr Reads kReads = kReading;
  static constexpr bool kPattern = kOnes, kPacked = kReads != Reads::apart, kRuns = kReads == Reads::runs,
                        kFar = kReads == Reads::far;
  using Shape = StepShape<Acc, N, kStep>;
  static constexpr int kWidth = Shape::kWidth, kVectors = Shape::kVectors, kEntries = Shape::kEntries;
  using Sums = Vector<Acc, kWidth>;

  struct Step {
    V value[kStep];
    std::int32_t col[kStep];
  };
};

/// Products of vector i of a step; with `whole`, all its entries are of one row.
template <class K, bool kWhole>
[[gnu::always_inline]] inline typename K::Sums add_products(typename K::Sums sum, const typename K::V* value,
                                                            const typename K::D* b, std::int64_t ld,
                                                            const std::int32_t* col, int i) {
  value += i * K::kEntries;
  col += i * K::kEntries;
  typename K::Sums rows;
  if (kWhole && K::kRuns && col[K::kEntries - 1] - col[0] == K::kEntries - 1)
    rows = load<K::kWidth>(b + *col);
  else
    rows = gather_rows<typename K::D, K::N, K::kEntries, K::kPacked>(b, ld, col);
  if constexpr (K::kPattern) return sum + rows;
  return sum +
         rows * load_repeated<typename K::Acc, K::N>(value, std::make_integer_sequence<int, K::kWidth>());
}

/// Reads a step where the arrays have less than one left: the last entry is repeated.
template <class K>
[[gnu::noinline]] void read_last(const typename K::V* value, const std::int32_t* col, std::int64_t left,
                                 typename K::Step& step) {
  for (std::int64_t i = 0; i < K::kStep; ++i) {
    const std::int64_t at = i < left ? i : left - 1;
    if constexpr (!K::kPattern) step.value[i] = value[at];
    step.col[i] = col[at];
  }
}

/// How far ahead entries are asked for.
inline constexpr std::int64_t kStepsAhead = 512;

/// Adds up entries [k, end) of the nnz that the arrays have.
template <class K>
[[gnu::always_inline]] inline typename K::Sums sum_row(const typename K::V* value, const typename K::D* b,
                                                       std::int64_t ld, const std::int32_t* col,
                                                       std::int64_t k, std::int64_t end, std::int64_t nnz) {
  typename K::Sums sum[K::kVectors];
#pragma GCC unroll 8
  for (int i = 0; i < K::kVectors; ++i) sum[i] = typename K::Sums{};
  for (; k + K::kStep < end; k += K::kStep) {
    if constexpr (K::kFar) {
      __builtin_prefetch(value + k + kStepsAhead);
      __builtin_prefetch(col + k + kStepsAhead);
    }
#pragma GCC unroll 8
    for (int i = 0; i < K::kVectors; ++i)
      sum[i] = add_products<K, true>(sum[i], value + k, b, ld, col + k, i);
  }
  value += k;
  col += k;
  typename K::Step last;
  if (__builtin_expect(k + K::kStep > nnz, 0)) {
    read_last<K>(value, col, nnz - k, last);
    value = last.value;
    col = last.col;
  }
  // Products of entries after the last one do not count.
  typename K::Sums total = {};
#pragma GCC unroll 8
  for (int i = 0; i < K::kVectors; ++i) {
    const auto product = add_products<K, false>(typename K::Sums{}, value, b, ld, col, i);
    sum[i] +=
        keep_lanes<typename K::Acc, K::kStep * K::N, K::kWidth>(product, (end - k) * K::N, i * K::kWidth);
    total = i == 0 ? sum[0] : total + sum[i];
  }
  return total;
}

/// Adds neighbours of granules of kGranule lanes inside blocks of kBlock granules: those of `a` first, then
/// those of `b`.
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

/// Adds up each of kRows vectors of kRows times N lanes: row after row of N sums. First within 16 bytes,
/// which costs less.
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

/// Rows of C, of type R, written as alpha * sum + beta * C; with beta = 0 C is not read. It is computed for
/// whole vectors wherever rows go, so that bits do not depend on it.
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

  /// Writes `count` rows from row r on.
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
    if (__builtin_expect(last - r < kRows, 0)) {  // rows that are not there are empty
      for (int i = 0; i < kRows; ++i) last_ends[i] = ends[i < last - r ? i : last - r - 1];
      ends = last_ends;
    }
    typename K::Sums rows[kRows];
    const auto sum_next = [&](int i) __attribute__((always_inline)) {
      rows[i] = sum_row<K>(value, b, ld, col, k, ends[i], nnz);
      k = ends[i];
    };
    if constexpr (K::kReads == Reads::packed &&
                  std::is_same_v<typename K::V, Acc>) {  // else size counts more
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

/// The kernel for N columns; null if a vector has fewer lanes.
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

/// Picks the kernel for n columns; null where there is none.
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
/// Entries of at least this size are asked for: some 10 times the second cache.
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

/// The kernel of `csr` for few columns; false where there is none, and nothing is done.
template <class V, class D, class R>
bool run_narrow(const Task& task, const Chunk& chunk) {
  using Acc = Accumulator<D>;
  const formats::CsrView csr = formats::as_csr(task.format);
  const Operand &b = task.operands.dense[kSpmmB], &c = task.operands.dense[kSpmmC];
  if (task.format.nnz == 0) return false;
  const auto fn = find_narrow<V, D, R>(task, csr.values.data == nullptr);
  if (fn == nullptr) return false;
  if (chunk.first_col != 0) return true;  // the chunk with the first columns has all of them
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
