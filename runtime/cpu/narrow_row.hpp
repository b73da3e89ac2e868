// Sum of a csr row times a B of 1, 2, 4 or 8 columns. A vector contains the products of several entries. The
// last step of every row is masked, so that row lengths cause no branch mispredictions. Compiled once per
// instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "runtime/cpu/lanes.hpp"
#include "runtime/cpu/row_kernel.hpp"

namespace sptile::runtime::SPTILE_ISA {

/// Maximum number of entries per step.
inline constexpr int kMaxStep = 8;

/// Layout of a step: kVectors vectors of kWidth sums, N per entry.
template <class Acc, int N, int kStep>
struct StepShape {
  static constexpr int kWhole = kStep * N;
  /// Elements of a single column are gathered one by one, which takes longer for wider vectors.
  static constexpr int kMax = N == 1 && kVectorBytes > 32 ? kLanes<Acc> * 32 / kVectorBytes : kLanes<Acc>;
  static constexpr int kWidth = kMax < kWhole ? kMax : kWhole;
  static constexpr int kVectors = kWhole / kWidth;
  static constexpr int kEntries = kWidth / N;  ///< entries per vector, and rows that are reduced together
};

/// Concatenates two vectors.
template <class T, int L, int... I>
[[gnu::always_inline]] inline Vector<T, 2 * L> join(Vector<T, L> a, Vector<T, L> b,
                                                    std::integer_sequence<int, I...>) {
  if constexpr (L == 1)
    return Vector<T, 2>{a, b};
  else
    return __builtin_shufflevector(a, b, I...);
}

/// Loads elements of a B with one column without conversion. Columns are read two at a time.
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
  // Inserting from memory, as compilers do, takes 10% longer on Zen 4.
  if constexpr (std::is_same_v<T, float> && sizeof...(I) == 4) {
    __m128 four = _mm_set_ss(element(0));
    four = _mm_insert_ps(four, _mm_set_ss(element(1)), 0x10);
    four = _mm_insert_ps(four, _mm_set_ss(element(2)), 0x20);
    return bits_as<Vector<T, 4>>(_mm_insert_ps(four, _mm_set_ss(element(3)), 0x30));
  }
#endif
  return Vector<T, sizeof...(I)>{element(I)...};
}

/// Loads N elements from each of kEntries rows of B without conversion. If kPacked, `ld` is N.
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

/// Loads as load_rows and widens to the accumulator type.
template <class D, int N, int kEntries, bool kPacked>
[[gnu::always_inline]] inline Vector<Accumulator<D>, kEntries * N> gather_rows(const D* b, std::int64_t ld,
                                                                               const std::int32_t* col) {
  if constexpr (sizeof(D) == sizeof(std::uint16_t))
    return widen_bits<kEntries * N, D>(
        load_rows<std::uint16_t, N, kEntries, kPacked>(reinterpret_cast<const std::uint16_t*>(b), ld, col));
  else
    return load_rows<D, N, kEntries, kPacked>(b, ld, col);
}

/// Widens a vector to kWidth lanes; the additional lanes are unspecified.
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

/// Loads values and repeats each of them N times.
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

/// kLanes2 lanes of ones, followed by kLanes2 lanes of zeros.
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

/// Returns the lanes of `x` below `count` and 0 in the others, where `x` starts at lane `first` of kAll.
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

/// Access pattern of entries and rows of B: rows with gaps (apart) or without (packed). For packed rows and
/// matrices with long rows, the columns of many steps are consecutive (runs), or entries exceed L2 (far) and
/// are prefetched.
enum class Reads { apart, packed, runs, far };

/// Parameters of a kernel: values of type V (none are stored if kPattern), a B of type D with N columns,
/// kStep entries per step.
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

/// Returns the values from entry k; a pattern has none.
template <class K>
[[gnu::always_inline]] inline const typename K::V* values_from(const typename K::V* value, std::int64_t k) {
  return K::kPattern ? value : value + k;
}

/// Adds the products of vector i of a step. If kWhole, all its entries belong to one row.
template <class K, bool kWhole>
[[gnu::always_inline]] inline typename K::Sums add_products(typename K::Sums sum, const typename K::V* value,
                                                            const typename K::D* b, std::int64_t ld,
                                                            const std::int32_t* col, int i) {
  value = values_from<K>(value, i * K::kEntries);
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

/// Loads a step if fewer entries remain in the arrays, repeating the last one.
template <class K>
[[gnu::noinline]] void read_last(const typename K::V* value, const std::int32_t* col, std::int64_t left,
                                 typename K::Step& step) {
  for (std::int64_t i = 0; i < K::kStep; ++i) {
    const std::int64_t at = i < left ? i : left - 1;
    if constexpr (!K::kPattern) step.value[i] = value[at];
    step.col[i] = col[at];
  }
}

/// Prefetch distance in entries.
inline constexpr std::int64_t kAhead = 512;

/// Adds the products of entries [k, end) of arrays of nnz entries.
template <class K>
[[gnu::always_inline]] inline typename K::Sums sum_row(const typename K::V* value, const typename K::D* b,
                                                       std::int64_t ld, const std::int32_t* col,
                                                       std::int64_t k, std::int64_t end, std::int64_t nnz) {
  typename K::Sums sum[K::kVectors];
#pragma GCC unroll 8
  for (int i = 0; i < K::kVectors; ++i) sum[i] = typename K::Sums{};
  for (; k + K::kStep < end; k += K::kStep) {
    if constexpr (K::kFar) {
      if constexpr (!K::kPattern) __builtin_prefetch(value + k + kAhead);
      __builtin_prefetch(col + k + kAhead);
    }
#pragma GCC unroll 8
    for (int i = 0; i < K::kVectors; ++i)
      sum[i] = add_products<K, true>(sum[i], values_from<K>(value, k), b, ld, col + k, i);
  }
  value = values_from<K>(value, k);
  col += k;
  typename K::Step last;
  if (__builtin_expect(k + K::kStep > nnz, 0)) {
    read_last<K>(value, col, nnz - k, last);
    value = last.value;
    col = last.col;
  }
  // Products of entries after the last one are masked.
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

}  // namespace sptile::runtime::SPTILE_ISA
