// Dot products of a row of X with several rows of Y. Each element of X is loaded once for all of them. The
// order of the additions does not depend on the number of rows. Compiled once per instruction set.
#pragma once

#include <cstdint>
#include <utility>

#include "runtime/cpu/lanes.hpp"

namespace sptile::runtime::SPTILE_ISA {

/// Rows of Y per step: enough independent sums to hide the latency of an addition.
inline constexpr int kDots = 4;

/// Adds the upper half of a vector of L elements to the lower half.
template <class Acc, int L, int... I>
[[gnu::always_inline]] inline Vector<Acc, L / 2> fold(Vector<Acc, L> v, std::integer_sequence<int, I...>) {
  if constexpr (L == 2)
    return v[0] + v[1];
  else
    return __builtin_shufflevector(v, v, I...) + __builtin_shufflevector(v, v, (L / 2 + I)...);
}

/// Reduces the sums to one number each. Adds the last `rest` < L products, from element `at`, with the widest
/// vectors that fit.
template <class D, int J, int L>
[[gnu::always_inline]] inline void finish(const D* x, const D* const* y, std::int64_t at, std::int64_t rest,
                                          const Vector<Accumulator<D>, L>* sum, Accumulator<D>* dots) {
  using Acc = Accumulator<D>;
  if constexpr (L == 1) {
#pragma GCC unroll 4
    for (int j = 0; j < J; ++j) dots[j] = sum[j];
  } else {
    constexpr int kHalf = L / 2;
    Vector<Acc, kHalf> half[J];
#pragma GCC unroll 4
    for (int j = 0; j < J; ++j) half[j] = fold<Acc, L>(sum[j], std::make_integer_sequence<int, kHalf>());
    if (rest >= kHalf) {
      const auto a = load<kHalf>(x + at);
#pragma GCC unroll 4
      for (int j = 0; j < J; ++j) half[j] += a * load<kHalf>(y[j] + at);
      at += kHalf;
      rest -= kHalf;
    }
    finish<D, J, kHalf>(x, y, at, rest, half, dots);
  }
}

/// Computes J dot products over n elements.
template <class D, int J>
void dot_rows(const D* x, const D* const* y, std::int64_t n, Accumulator<D>* dots) {
  using Acc = Accumulator<D>;
  constexpr int kStep = kVectorBytes / static_cast<int>(sizeof(Acc));
  Vector<Acc, kStep> sum[J] = {};
  std::int64_t k = 0;
  for (; k + kStep <= n; k += kStep) {
    const auto a = load<kStep>(x + k);
#pragma GCC unroll 4
    for (int j = 0; j < J; ++j) sum[j] += a * load<kStep>(y[j] + k);
  }
  finish<D, J, kStep>(x, y, k, n - k, sum, dots);
}

/// Computes `count` <= kDots dot products.
template <class D>
[[gnu::always_inline]] inline void dot_rows(const D* x, const D* const* y, int count, std::int64_t n,
                                            Accumulator<D>* dots) {
  using Fn = void (*)(const D*, const D* const*, std::int64_t, Accumulator<D>*);
  static constexpr Fn kByCount[kDots] = {dot_rows<D, 1>, dot_rows<D, 2>, dot_rows<D, 3>, dot_rows<D, 4>};
  kByCount[count - 1](x, y, n, dots);
}

}  // namespace sptile::runtime::SPTILE_ISA
