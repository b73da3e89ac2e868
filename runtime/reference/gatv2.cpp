#include "runtime/reference/gatv2.hpp"

#include <cmath>
#include <vector>

#include "runtime/reference/element.hpp"
#include "runtime/reference/weights.hpp"

namespace sptile::runtime {
namespace {

/// One column of an entry.
struct Column {
  double z, magnitude;  ///< x + y + e, and the sum of absolute values
  double slope;         ///< leaky_relu'(z)
  double a;
  bool is_doubtful;  ///< either slope is right, because z is 0 but for its rounding
};

class Gatv2Walk {
 public:
  /// features: operands from which e is computed; otherwise `edges` is e, -1: none.
  Gatv2Walk(const AttentionProblem& problem, const Operands& operands, int own, int other, int edges,
            const Gatv2Features* features = nullptr)
      : p_(problem), o_(operands), own_(own), other_(other), edges_(edges), features_(features) {}

  [[nodiscard]] double at(int operand, std::int64_t row, std::int64_t column) const {
    return read_element(p_.types.operands, o_.dense[operand].data, row * o_.dense[operand].ld + column);
  }
  [[nodiscard]] DType statistic_type() const {
    return p_.types.operands == DType::f64 ? DType::f64 : DType::f32;
  }
  [[nodiscard]] double statistic(int operand, std::int64_t row, std::int64_t column) const {
    return read_element(statistic_type(), o_.dense[operand].data, row * o_.dense[operand].ld + column);
  }
  [[nodiscard]] std::int64_t place(std::int64_t k) const {
    return p_.packed.empty() ? k : p_.packed[static_cast<std::size_t>(k)];
  }
  [[nodiscard]] double number(int list, std::int64_t k, double otherwise) const {
    const void* const data = o_.dense[list].data;
    return data == nullptr ? otherwise : read_element(p_.types.operands, data, place(k));
  }
  template <class F>
  void entries(std::int64_t row, const F& f) const {
    const auto r = static_cast<std::size_t>(row);
    for (std::int64_t k = p_.a.row_ptr[r]; k < p_.a.row_ptr[r + 1]; ++k)
      f(k, std::int64_t{p_.a.col_idx[static_cast<std::size_t>(k)]});
  }

  [[nodiscard]] Column column(std::int64_t i, std::int64_t k, std::int64_t j, std::int64_t c) const {
    const double x = at(own_, i, c), y = at(other_, j, c);
    const ReferenceNumber e = edge(k, c);
    const double z = x + y + e.value, magnitude = std::fabs(x) + std::fabs(y) + e.scale;
    const bool wide = p_.types.operands == DType::f64;
    const bool near = features_ != nullptr && std::fabs(z) <= (wide ? 0x1p-48 : 0x1p-20) * magnitude;
    return {z, magnitude, z > 0 ? 1 : o_.slope, at(kGatv2Vector, 0, c), near};
  }
  /// Returns the tolerated error of a slope.
  [[nodiscard]] double slack(const Column& one) const {
    return one.is_doubtful ? std::fabs(1 - o_.slope) : 0;
  }
  [[nodiscard]] double steepest() const { return std::fmax(1, std::fabs(o_.slope)); }
  /// Returns the argument of exp for entry k of row i in column j of the plan.
  [[nodiscard]] WeighedScore scored(std::int64_t i, std::int64_t k, std::int64_t j) const {
    double sum = 0, magnitude = 0;
    for (std::int64_t c = 0; c < p_.n; ++c) {
      const Column one = column(i, k, j, c);
      sum += one.a * one.slope * one.z;
      magnitude += std::fabs(one.a) * steepest() * one.magnitude;
    }
    const double bias = number(kAttentionBias, k, 0);
    return {o_.alpha * sum + bias, std::fabs(o_.alpha) * magnitude + std::fabs(bias)};
  }

  void hand_in(const ResultSink& sink, int operand, DType type, std::int64_t row,
               const std::vector<ReferenceNumber>& sums) const {
    for (std::size_t c = 0; c < sums.size(); ++c)
      sink(o_.dense[operand].data, type, row * o_.dense[operand].ld + static_cast<std::int64_t>(c), sums[c]);
  }
  static void add(ReferenceNumber& sum, double value, double scale, double slack = 0) {
    sum = {sum.value + value, sum.scale + scale, sum.slack + slack};
  }

  const AttentionProblem& p_;
  const Operands& o_;

 private:
  /// Returns element c of e.
  [[nodiscard]] ReferenceNumber edge(std::int64_t k, std::int64_t c) const {
    ReferenceNumber sum;
    if (features_ != nullptr) {
      for (std::int64_t f = 0; f < p_.m; ++f) {
        const double product = at(features_->w, c, f) * at(features_->edges, place(k), f);
        add(sum, product, std::fabs(product));
      }
    } else if (edges_ >= 0 && o_.dense[edges_].data != nullptr) {
      const double e = at(edges_, place(k), c);
      add(sum, e, std::fabs(e));
    }
    return sum;
  }

  int own_, other_, edges_;
  const Gatv2Features* features_;
};

class Gatv2Reference : Gatv2Walk {
 public:
  Gatv2Reference(const AttentionProblem& problem, bool projects, const Operands& operands)
      : Gatv2Walk(problem, operands, kAttentionX, kAttentionY, kGatv2Edges,
                  projects ? &kGatv2Features : nullptr),
        out_(projects ? kGatv2EdgesOut : kGatv2Out) {}

  void row(std::int64_t i, const ResultSink& sink) const {
    std::vector<WeighedScore> scores;
    entries(i, [&](std::int64_t k, std::int64_t j) { scores.push_back(scored(i, k, j)); });
    const RowWeights all = weigh(scores);
    const Operand& statistics = o_.dense[kAttentionStatistics];
    sink(statistics.data, statistic_type(), i * statistics.ld + kMaximum, {all.maximum, all.largest});
    sink(statistics.data, statistic_type(), i * statistics.ld + kInverseSum,
         {all.inverse, all.inverse * (1 + all.magnitude + all.largest)});
    std::vector<ReferenceNumber> sums(static_cast<std::size_t>(p_.n));
    std::size_t next = 0;
    entries(i, [&](std::int64_t k, std::int64_t j) {
      const WeighedScore& entry = scores[next++];
      for (std::int64_t c = 0; c < p_.n; ++c) {
        const double product = entry.weight * number(kGatv2Factors, k, 1) * at(kAttentionY, j, c);
        add(sums[static_cast<std::size_t>(c)], product, std::fabs(product) * entry.amplified);
      }
    });
    hand_in(sink, out_, p_.types.result, i, sums);
  }

 private:
  int out_;
};

class Gatv2GradientReference : Gatv2Walk {
 public:
  Gatv2GradientReference(const AttentionProblem& problem, const Gatv2Side& side, const Operands& operands)
      : Gatv2Walk(problem, operands, side.own, side.other, side.of_columns ? -1 : kGatv2Edges,
                  side.projects ? &kGatv2Features : nullptr),
        side_(side) {}

  void row(std::int64_t i, const ResultSink& sink) {
    own_.assign(static_cast<std::size_t>(p_.n), {});
    vector_.assign(side_.of_columns ? 0 : static_cast<std::size_t>(p_.n), {});
    ReferenceNumber delta;
    if (!side_.of_columns) {
      delta = products(side_.out, i, side_.dout, i);
      sink(o_.dense[side_.delta].data, statistic_type(), i * o_.dense[side_.delta].ld, delta);
    }
    entries(i, [&](std::int64_t k, std::int64_t j) { add_entry(i, k, j, delta, sink); });
    hand_in(sink, side_.gradient, p_.types.result, i, own_);
    if (!side_.of_columns) hand_in(sink, kGatv2VectorGradient, statistic_type(), i, vector_);
  }

 private:
  [[nodiscard]] ReferenceNumber products(int x, std::int64_t i, int y, std::int64_t j) const {
    ReferenceNumber sum;
    for (std::int64_t c = 0; c < p_.n; ++c) {
      const double product = at(x, i, c) * at(y, j, c);
      add(sum, product, std::fabs(product));
    }
    return sum;
  }

  void add_entry(std::int64_t i, std::int64_t k, std::int64_t j, ReferenceNumber delta,
                 const ResultSink& sink) {
    const std::int64_t row = side_.of_columns ? j : i, column_of_a = side_.of_columns ? i : j;
    if (side_.of_columns) {
      delta.value = statistic(side_.delta, row, 0);
      delta.scale = std::fabs(delta.value);
    }
    const WeighedScore score = scored(i, k, j);
    const double maximum = statistic(kAttentionStatistics, row, kMaximum);
    const double p = std::exp(score.score - maximum) * statistic(kAttentionStatistics, row, kInverseSum);
    const double amplified = p == 0 ? 0 : std::fabs(p) * (1 + score.magnitude + std::fabs(maximum));
    const double f = number(kGatv2Factors, k, 1);
    const ReferenceNumber dp = products(side_.dout, row, kAttentionY, column_of_a);
    const double ds = o_.alpha * p * (f * dp.value - delta.value);
    const double ds_scale = std::fabs(o_.alpha) * amplified * (std::fabs(f) * dp.scale + delta.scale);
    if (side_.projects && !side_.of_columns)
      sink(o_.dense[kGatv2EdgesDs].data, statistic_type(), place(k), {ds, ds_scale});
    else if (!side_.of_columns)
      sink(o_.dense[kGatv2Weights].data, p_.types.result, place(k), {p * f, amplified * std::fabs(f)});
    for (std::int64_t c = 0; c < p_.n; ++c) {
      const Column one = column(i, k, j, c);
      const double by = one.a * one.slope;
      ReferenceNumber& own = own_[static_cast<std::size_t>(c)];
      add(own, ds * by, ds_scale * std::fabs(by), std::fabs(ds * one.a) * slack(one));
      if (side_.of_columns) {
        const double product = f * at(side_.dout, row, c);
        add(own, p * product, amplified * std::fabs(product));
        continue;
      }
      add(vector_[static_cast<std::size_t>(c)], ds * one.slope * one.z,
          ds_scale * std::fabs(one.slope) * one.magnitude);
      if (side_.projects) continue;
      sink(o_.dense[kGatv2EdgesGradient].data, p_.types.result,
           place(k) * o_.dense[kGatv2EdgesGradient].ld + c, {ds * by, ds_scale * std::fabs(by)});
    }
  }

  const Gatv2Side& side_;
  std::vector<ReferenceNumber> own_, vector_;
};

class Gatv2WeightsReference : Gatv2Walk {
 public:
  Gatv2WeightsReference(const AttentionProblem& problem, const Operands& operands)
      : Gatv2Walk(problem, operands, kAttentionX, kAttentionY, -1, &kGatv2WeightsFeatures),
        sums_(static_cast<std::size_t>(problem.n * problem.m)) {}

  void add_row(std::int64_t i) {
    entries(i, [&](std::int64_t k, std::int64_t j) {
      const double ds = read_element(statistic_type(), o_.dense[kGatv2WeightsDs].data, place(k));
      for (std::int64_t c = 0; c < p_.n; ++c) {
        const Column one = column(i, k, j, c);
        for (std::int64_t f = 0; f < p_.m; ++f) {
          const double product = ds * one.a * at(kGatv2WeightsFeatures.edges, place(k), f);
          add(sums_[static_cast<std::size_t>(c * p_.m + f)], product * one.slope,
              std::fabs(product * one.slope), std::fabs(product) * slack(one));
        }
      }
    });
  }
  void hand_in_all(const ResultSink& sink) const {
    const Operand& to = o_.dense[kGatv2WeightsGradient];
    for (std::int64_t c = 0; c < p_.n; ++c)
      for (std::int64_t f = 0; f < p_.m; ++f)
        sink(to.data, p_.types.result, c * to.ld + f, sums_[static_cast<std::size_t>(c * p_.m + f)]);
  }

 private:
  std::vector<ReferenceNumber> sums_;
};

}  // namespace

void gatv2(const AttentionProblem& problem, bool projects, const Operands& operands, const ResultSink& sink) {
  const Gatv2Reference forward(problem, projects, operands);
  for (std::int64_t i = 0; i < problem.a.rows; ++i) forward.row(i, sink);
}

void gatv2_gradient(const AttentionProblem& problem, const Gatv2Side& side, const Operands& operands,
                    const ResultSink& sink) {
  Gatv2GradientReference gradient(problem, side, operands);
  for (std::int64_t i = 0; i < problem.a.rows; ++i) gradient.row(i, sink);
}

void gatv2_weights(const AttentionProblem& problem, const Operands& operands, const ResultSink& sink) {
  Gatv2WeightsReference weights(problem, operands);
  for (std::int64_t i = 0; i < problem.a.rows; ++i) weights.add_row(i);
  weights.hand_in_all(sink);
}

}  // namespace sptile::runtime
