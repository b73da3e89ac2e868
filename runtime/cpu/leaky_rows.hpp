// Column loops of GATv2 attention. Compiled once per instruction set.
#pragma once

#include "runtime/cpu/lanes.hpp"
#include "runtime/cpu/row_math.hpp"

namespace sptile::runtime::SPTILE_ISA {

/// Rows of a pair as elements of type D.
template <class D>
struct LeakyPair {
  using Acc = Accumulator<D>;
  const D *x, *a, *row, *edge;
  Acc slope;

  [[gnu::always_inline]] LeakyPair(const LeakyRows& rows, std::int64_t k)
      : x(static_cast<const D*>(rows.x)),
        a(static_cast<const D*>(rows.a)),
        row(static_cast<const D*>(rows.rows.data) + rows.rows.ids[k] * rows.rows.ld),
        edge(rows.edges == nullptr ? nullptr : static_cast<const D*>(rows.edges) + k * rows.edges_ld),
        slope(static_cast<Acc>(rows.slope)) {}

  template <int L>
  [[gnu::always_inline]] Vector<Acc, L> z(std::int64_t c) const {
    const Vector<Acc, L> both = load<L>(x + c) + load<L>(row + c);
    return edge == nullptr ? both : both + load<L>(edge + c);
  }
  /// Returns leaky_relu'(z).
  template <int L>
  [[gnu::always_inline]] Vector<Acc, L> derivative(Vector<Acc, L> z) const {
    const Vector<Acc, L> zero = {};
    return z > zero ? zero + Acc{1} : zero + slope;
  }
};

/// Calls f.operator()<L>(c) for columns in vectors, then for the others one by one.
template <class Acc, class F>
[[gnu::always_inline]] inline void for_each_piece(std::int64_t columns, const F& f) {
  constexpr int kStep = kVectorBytes / static_cast<int>(sizeof(Acc));
  std::int64_t c = 0;
  for (; c + kStep <= columns; c += kStep) f.template operator()<kStep>(c);
  for (; c < columns; ++c) f.template operator()<1>(c);
}

template <class D>
void leaky_dots_of(const LeakyRows& rows, double* to) {
  using Acc = Accumulator<D>;
  constexpr int kStep = kVectorBytes / static_cast<int>(sizeof(Acc));
  for (std::int64_t k = 0; k < rows.rows.count; ++k) {
    const LeakyPair<D> pair(rows, k);
    Vector<Acc, kStep> sums = {};
    Acc rest = 0;
    for_each_piece<Acc>(rows.columns, [&]<int L>(std::int64_t c) {
      const Vector<Acc, L> z = pair.template z<L>(c);
      const Vector<Acc, L> term = load<L>(pair.a + c) * pair.template derivative<L>(z) * z;
      if constexpr (L == 1)
        rest += term;
      else
        sums += term;
    });
    for (int i = 0; i < kStep; ++i) rest += sums[i];
    to[k] += static_cast<double>(rest);
  }
}

template <class D>
void leaky_add_of(const LeakyRows& rows, const double* weights, std::byte* sum_bytes, std::byte* by_a_bytes) {
  using Acc = Accumulator<D>;
  auto* const sums = reinterpret_cast<Acc*>(sum_bytes);
  auto* const by_a = reinterpret_cast<Acc*>(by_a_bytes);
  for_each_piece<Acc>(rows.columns, [&]<int L>(std::int64_t c) {
    Vector<Acc, L> own = load<L>(sums + c), vector = {};
    if (by_a != nullptr) vector = load<L>(by_a + c);
    for (std::int64_t k = 0; k < rows.rows.count; ++k) {
      const LeakyPair<D> pair(rows, k);
      const Vector<Acc, L> z = pair.template z<L>(c);
      const Vector<Acc, L> by = static_cast<Acc>(weights[k]) * pair.template derivative<L>(z);
      own += by * load<L>(pair.a + c);
      vector += by * z;
    }
    store<L>(sums + c, own);
    if (by_a != nullptr) store<L>(by_a + c, vector);
  });
}

template <class D>
void project(const FeatureRows& rows, std::byte* sum_bytes) {
  using Acc = Accumulator<D>;
  constexpr int kStep = kVectorBytes / static_cast<int>(sizeof(Acc)), kVectors = 4;
  const auto* const w = static_cast<const Acc*>(rows.w);
  for (std::int64_t k = 0; k < rows.count; ++k) {
    const D* const from = static_cast<const D*>(rows.data) + k * rows.ld;
    Acc* const to = reinterpret_cast<Acc*>(sum_bytes) + k * rows.columns;
    std::int64_t c = 0;
    for (; c + kVectors * kStep <= rows.columns; c += kVectors * kStep) {
      Vector<Acc, kStep> sums[kVectors] = {};
      for (int f = 0; f < rows.features; ++f) {
        const Acc e = load<1>(from + f);
        for (int v = 0; v < kVectors; ++v) sums[v] += e * load<kStep>(w + f * kSumColumns + c + v * kStep);
      }
      for (int v = 0; v < kVectors; ++v) store<kStep>(to + c + v * kStep, sums[v]);
    }
    for_each_piece<Acc>(rows.columns - c, [&]<int L>(std::int64_t more) {
      Vector<Acc, L> sum = {};
      for (int f = 0; f < rows.features; ++f)
        sum += static_cast<Acc>(load<1>(from + f)) * load<L>(w + f * kSumColumns + c + more);
      store<L>(to + c + more, sum);
    });
  }
}

/// Adds products of kFeatures features and `by`, which has kOuterColumns numbers per row.
template <int kFeatures, int L, class D, class Acc>
[[gnu::always_inline]] inline void add_outer(const FeatureRows& rows, std::int64_t first, std::int64_t count,
                                             int f, const Acc* by, Acc* sums) {
  Vector<Acc, L> sum[kFeatures];
  for (int i = 0; i < kFeatures; ++i) sum[i] = load<L>(sums + (f + i) * kOuterColumns);
  for (std::int64_t k = 0; k < count; ++k) {
    const D* const from = static_cast<const D*>(rows.data) + (first + k) * rows.ld + f;
    const Vector<Acc, L> factor = load<L>(by + k * kOuterColumns);
    for (int i = 0; i < kFeatures; ++i) sum[i] += factor * static_cast<Acc>(load<1>(from + i));
  }
  for (int i = 0; i < kFeatures; ++i) store<L>(sums + (f + i) * kOuterColumns, sum[i]);
}

template <class D>
void leaky_outer_of(const LeakyRows& rows, const FeatureRows& features, const double* weights,
                    std::byte* sum_bytes) {
  using Acc = Accumulator<D>;
  constexpr int kRows = 32, kTogether = 4;
  auto* const sums = reinterpret_cast<Acc*>(sum_bytes);
  alignas(64) Acc by[kRows * kOuterColumns];
  for (std::int64_t first = 0; first < rows.rows.count; first += kRows) {
    const std::int64_t count = rows.rows.count - first < kRows ? rows.rows.count - first : kRows;
    for (std::int64_t k = 0; k < count; ++k) {
      const LeakyPair<D> pair(rows, first + k);
      for_each_piece<Acc>(rows.columns, [&]<int L>(std::int64_t c) {
        store<L>(by + k * kOuterColumns + c,
                 static_cast<Acc>(weights[first + k]) * pair.template derivative<L>(pair.template z<L>(c)));
      });
    }
    for_each_piece<Acc>(rows.columns, [&]<int L>(std::int64_t c) {
      int f = 0;
      for (; f + kTogether <= features.features; f += kTogether)
        add_outer<kTogether, L, D>(features, first, count, f, by + c, sums + c);
      for (; f < features.features; ++f) add_outer<1, L, D>(features, first, count, f, by + c, sums + c);
    });
  }
}

template <class D>
[[gnu::noinline]] void widen_row(const void* from, std::int64_t row, std::int64_t columns, float* to) {
  const D* const elements = static_cast<const D*>(from) + row;
  for_each_piece<float>(columns, [&]<int L>(std::int64_t c) { store<L>(to + c, load<L>(elements + c)); });
}

/// Calls f(pair, k) with each pair widened to float: 16-bit types share the code of float, which keeps the
/// library small.
template <class D, class F>
void for_each_widened(const LeakyRows& rows, const F& f) {
  static constexpr std::int32_t kFirst = 0;
  float x[kSumColumns], a[kSumColumns], row[kSumColumns], edge[kSumColumns];
  LeakyRows one = {x, a,          {row, 0, &kFirst, 1}, rows.edges == nullptr ? nullptr : edge,
                   0, rows.slope, rows.columns,         true};
  widen_row<D>(rows.x, 0, rows.columns, x);
  widen_row<D>(rows.a, 0, rows.columns, a);
  for (std::int64_t k = 0; k < rows.rows.count; ++k) {
    widen_row<D>(rows.rows.data, rows.rows.ids[k] * rows.rows.ld, rows.columns, row);
    if (rows.summed)
      one.edges = static_cast<const float*>(rows.edges) + k * rows.edges_ld;
    else if (rows.edges != nullptr)
      widen_row<D>(rows.edges, k * rows.edges_ld, rows.columns, edge);
    f(one, k);
  }
}

template <class D>
void leaky_dots(const LeakyRows& rows, double* to) {
  if constexpr (sizeof(D) == 2)
    return for_each_widened<D>(
        rows, [to](const LeakyRows& one, std::int64_t k) { leaky_dots<float>(one, to + k); });
  else
    leaky_dots_of<D>(rows, to);
}

template <class D>
void leaky_add(const LeakyRows& rows, const double* weights, std::byte* sums, std::byte* by_a) {
  if constexpr (sizeof(D) == 2)
    return for_each_widened<D>(
        rows, [=](const LeakyRows& one, std::int64_t k) { leaky_add<float>(one, weights + k, sums, by_a); });
  else
    leaky_add_of<D>(rows, weights, sums, by_a);
}

template <class D>
void leaky_outer(const LeakyRows& rows, const FeatureRows& features, const double* weights, std::byte* sums) {
  if constexpr (sizeof(D) == 2) {
    float row[kSumColumns];
    for_each_widened<D>(rows, [&](const LeakyRows& one, std::int64_t k) {
      widen_row<D>(features.data, k * features.ld, features.features, row);
      leaky_outer<float>(one, {row, 0, 1, features.features, nullptr, 0}, weights + k, sums);
    });
  } else {
    leaky_outer_of<D>(rows, features, weights, sums);
  }
}

}  // namespace sptile::runtime::SPTILE_ISA
