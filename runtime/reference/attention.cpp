#include "runtime/reference/attention.hpp"

#include <cassert>
#include <cmath>
#include <vector>

#include "runtime/core/score.hpp"
#include "runtime/reference/element.hpp"
#include "runtime/reference/weights.hpp"

namespace sptile::runtime {
namespace {

/// Rows of an input operand.
struct Rows {
  DType type;
  const Operand& operand;

  [[nodiscard]] double at(std::int64_t row, std::int64_t column) const {
    return read_element(type, operand.data, row * operand.ld + column);
  }
};

DType statistic_type(const DenseTypes& types) {
  return types.operands == DType::f64 ? DType::f64 : DType::f32;
}

/// Returns a sum of products and the sum of their absolute values.
ReferenceNumber dot(const Rows& x, std::int64_t i, const Rows& y, std::int64_t j, std::int64_t n) {
  ReferenceNumber sum;
  for (std::int64_t k = 0; k < n; ++k) {
    const double product = x.at(i, k) * y.at(j, k);
    sum = {sum.value + product, sum.scale + std::fabs(product)};
  }
  return sum;
}

/// Score of a pair of rows.
struct PairScore {
  ScoreParts parts;
  double magnitude = 0;  ///< magnitude of the score, to which its rounding errors are proportional
  double by_own = 0;     ///< magnitude of parts.by_own, whose cosine has the magnitude of the score

  PairScore(const AttentionProblem& p, double slope, const Rows& own, std::int64_t i, const Rows& other,
            std::int64_t j) {
    ScoreSums sums{.slope = slope};
    ReferenceNumber both;
    if (p.score == Score::additive) {
      both = {own.at(i, 0) + other.at(j, 0), std::fabs(own.at(i, 0)) + std::fabs(other.at(j, 0))};
    } else {
      both = dot(own, i, other, j, p.n);
      sums.own = dot(own, i, own, i, p.n).value;
      sums.other = dot(other, j, other, j, p.n).value;
    }
    sums.both = both.value;
    parts = kScores[static_cast<int>(p.score)](sums);
    magnitude = both.scale * std::fabs(parts.by_other);
    if (parts.by_own != 0) by_own = magnitude / sums.own;
  }
};

/// Iterates over the entries of a problem.
class Walk {
 public:
  Walk(const AttentionProblem& problem, const Operands& operands) : p_(problem), o_(operands) {}

  [[nodiscard]] Rows rows(int operand) const { return {p_.types.operands, o_.dense[operand]}; }
  [[nodiscard]] Rows statistics(int operand) const { return {statistic_type(p_.types), o_.dense[operand]}; }
  [[nodiscard]] std::int64_t place(std::int64_t k) const {
    return p_.packed.empty() ? k : p_.packed[static_cast<std::size_t>(k)];
  }
  [[nodiscard]] double bias(std::int64_t k) const {
    const void* const list = o_.dense[kAttentionBias].data;
    return list == nullptr ? 0 : read_element(p_.types.operands, list, place(k));
  }
  template <class F>
  void entries(std::int64_t row, const F& f) const {
    const auto r = static_cast<std::size_t>(row);
    for (std::int64_t k = p_.a.row_ptr[r]; k < p_.a.row_ptr[r + 1]; ++k)
      f(k, std::int64_t{p_.a.col_idx[static_cast<std::size_t>(k)]});
  }
  /// Returns the argument of exp for entry k.
  [[nodiscard]] WeighedScore scored(const PairScore& pair, std::int64_t k) const {
    return {o_.alpha * pair.parts.score + bias(k), std::fabs(o_.alpha) * pair.magnitude + std::fabs(bias(k))};
  }

 protected:
  const AttentionProblem& p_;
  const Operands& o_;
};

class Forward : Walk {
 public:
  using Walk::Walk;

  void row(std::int64_t i, const ResultSink& sink) const {
    std::vector<WeighedScore> scores;
    entries(i, [&](std::int64_t k, std::int64_t j) {
      scores.push_back(scored({p_, o_.slope, rows(kAttentionX), i, rows(kAttentionY), j}, k));
    });
    const RowWeights all = weigh(scores);
    const Operand& statistics = o_.dense[kAttentionStatistics];
    const DType type = statistic_type(p_.types);
    sink(statistics.data, type, i * statistics.ld + kMaximum, {all.maximum, all.largest});
    sink(statistics.data, type, i * statistics.ld + kInverseSum,
         {all.inverse, all.inverse * (1 + all.magnitude + all.largest)});
    std::vector<ReferenceNumber> sums(static_cast<std::size_t>(p_.m));
    std::size_t at = 0;
    entries(i, [&](std::int64_t, std::int64_t j) { add(sums, scores[at++], j); });
    for (std::int64_t c = 0; c < p_.m; ++c)
      sink(o_.dense[kAttentionOut].data, p_.types.result, i * o_.dense[kAttentionOut].ld + c,
           sums[static_cast<std::size_t>(c)]);
  }

 private:
  void add(std::vector<ReferenceNumber>& sums, const WeighedScore& entry, std::int64_t j) const {
    for (std::int64_t c = 0; c < p_.m; ++c) {
      const double product = entry.weight * rows(kAttentionV).at(j, c);
      ReferenceNumber& sum = sums[static_cast<std::size_t>(c)];
      sum = {sum.value + product, sum.scale + std::fabs(product) * entry.amplified};
    }
  }
};

class Gradient : Walk {
 public:
  Gradient(const AttentionProblem& problem, const AttentionSide& side, const Operands& operands)
      : Walk(problem, operands), side_(side) {}

  void row(std::int64_t i, const ResultSink& sink) {
    own_.assign(static_cast<std::size_t>(p_.n), {});
    values_.assign(static_cast<std::size_t>(p_.m), {});
    const ReferenceNumber delta = delta_of(i);
    if (side_.out >= 0)
      sink(o_.dense[side_.delta].data, statistic_type(p_.types), i * o_.dense[side_.delta].ld, delta);
    entries(i, [&](std::int64_t k, std::int64_t j) { add(i, k, j, delta, sink); });
    hand_in(sink, side_.own_gradient, i, own_);
    if (side_.values_gradient >= 0) hand_in(sink, side_.values_gradient, i, values_);
  }

 private:
  [[nodiscard]] ReferenceNumber delta_of(std::int64_t i) const {
    if (side_.of_columns) return {};
    return dot(rows(side_.out), i, rows(side_.own_values), i, p_.m);
  }

  void add(std::int64_t i, std::int64_t k, std::int64_t j, ReferenceNumber delta, const ResultSink& sink) {
    const PairScore pair(p_, o_.slope, rows(side_.own), i, rows(side_.other), j);
    const WeighedScore score = scored(pair, k);
    const std::int64_t row = side_.of_columns ? j : i;  // row of A
    if (side_.of_columns) {
      const double given = statistics(side_.delta).at(row, 0);
      delta = {given, std::fabs(given)};
    }
    const double maximum = statistics(kAttentionStatistics).at(row, kMaximum);
    const double p = std::exp(score.score - maximum) * statistics(kAttentionStatistics).at(row, kInverseSum);
    const double amplified = p == 0 ? 0 : std::fabs(p) * (1 + score.magnitude + std::fabs(maximum));
    const ReferenceNumber dp = dot(rows(side_.own_values), i, rows(side_.other_values), j, p_.m);
    const ReferenceNumber ds{p * (dp.value - delta.value), amplified * (dp.scale + delta.scale)};
    if (side_.dbias >= 0) sink(o_.dense[side_.dbias].data, p_.types.result, place(k), ds);
    for (std::int64_t c = 0; c < p_.n; ++c) add_own(i, j, c, pair, ds);
    for (std::int64_t c = 0; c < p_.m && side_.values_gradient >= 0; ++c) {
      const double value = rows(side_.other_values).at(j, c);
      ReferenceNumber& sum = values_[static_cast<std::size_t>(c)];
      sum = {sum.value + p * value, sum.scale + amplified * std::fabs(value)};
    }
  }

  void add_own(std::int64_t i, std::int64_t j, std::int64_t c, const PairScore& pair,
               const ReferenceNumber& ds) {
    const double other = p_.score == Score::additive ? 1 : rows(side_.other).at(j, c);
    const double own = rows(side_.own).at(i, c);
    const double by = pair.parts.by_other * other + (pair.parts.by_own == 0 ? 0 : pair.parts.by_own * own);
    const double scale = std::fabs(pair.parts.by_other * other) + pair.by_own * std::fabs(own);
    ReferenceNumber& sum = own_[static_cast<std::size_t>(c)];
    sum = {sum.value + o_.alpha * ds.value * by, sum.scale + std::fabs(o_.alpha) * ds.scale * scale};
  }

  void hand_in(const ResultSink& sink, int operand, std::int64_t i,
               const std::vector<ReferenceNumber>& sums) const {
    for (std::size_t c = 0; c < sums.size(); ++c)
      sink(o_.dense[operand].data, p_.types.result, i * o_.dense[operand].ld + static_cast<std::int64_t>(c),
           sums[c]);
  }

  const AttentionSide& side_;
  std::vector<ReferenceNumber> own_, values_;
};

}  // namespace

void attention(const AttentionProblem& problem, const Operands& operands, const ResultSink& sink) {
  assert(problem.score != Score::additive || problem.n == 1);
  const Forward forward(problem, operands);
  for (std::int64_t i = 0; i < problem.a.rows; ++i) forward.row(i, sink);
}

void attention_gradient(const AttentionProblem& problem, const AttentionSide& side, const Operands& operands,
                        const ResultSink& sink) {
  Gradient gradient(problem, side, operands);
  for (std::int64_t i = 0; i < problem.a.rows; ++i) gradient.row(i, sink);
}

}  // namespace sptile::runtime
