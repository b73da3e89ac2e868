#include "runtime/reference/edge_attention.hpp"

#include <cmath>
#include <vector>

#include "runtime/core/edge_attention_operands.hpp"
#include "runtime/reference/element.hpp"
#include "runtime/reference/weights.hpp"

namespace sptile::runtime {
namespace {

class EdgeReference {
 public:
  EdgeReference(const AttentionProblem& problem, const Operands& operands) : p_(problem), o_(operands) {}

  void forward(std::int64_t i, const ResultSink& sink) const {
    std::vector<WeighedScore> scores;
    entries(i, [&](std::int64_t k, std::int64_t j) { scores.push_back(scored(i, k, j)); });
    const RowWeights all = weigh(scores);
    const Operand& statistics = o_.dense[kAttentionStatistics];
    sink(statistics.data, statistic_type(), i * statistics.ld + kMaximum, {all.maximum, all.largest});
    sink(statistics.data, statistic_type(), i * statistics.ld + kInverseSum,
         {all.inverse, all.inverse * (1 + all.magnitude + all.largest)});
    Sums out(p_.n), of_edges(p_.m);
    std::size_t next = 0;
    entries(i, [&](std::int64_t k, std::int64_t j) {
      const WeighedScore& entry = scores[next++];
      const double weight = entry.weight * factor(k);
      out.add(weight, std::fabs(weight) * entry.amplified, [&](auto c) { return at(kAttentionV, j, c); });
      of_edges.add(weight, std::fabs(weight) * entry.amplified,
                   [&](auto c) { return at(kEdges, place(k), c); });
    });
    hand_in(sink, kEdgeAttentionOut, i, out);
    hand_in(sink, kEdgeOut, i, of_edges);
  }

  void gradient(std::int64_t i, const ResultSink& sink) const {
    const ReferenceNumber delta = sum_of(products(kEdgeAttentionOut, i, kEdgeAttentionDOut, i, p_.n),
                                         products(kEdgeOut, i, kEdgeDOut, i, p_.m));
    const double maximum = statistic(i, kMaximum), inverse = statistic(i, kInverseSum);
    const double alpha = o_.alpha;
    Sums own(p_.n), of_edges(p_.m);
    entries(i, [&](std::int64_t k, std::int64_t j) {
      const std::int64_t entry = place(k);
      const WeighedScore score = scored(i, k, j);
      const double p = std::exp(score.score - maximum) * inverse;
      const double amplified = p == 0 ? 0 : std::fabs(p) * (1 + score.magnitude + std::fabs(maximum));
      const double f = factor(k);
      const ReferenceNumber dp = sum_of(products(kEdgeAttentionDOut, i, kAttentionV, j, p_.n),
                                        products(kEdgeDOut, i, kEdges, entry, p_.m));
      const double ds = p * (f * dp.value - delta.value);
      const double ds_scale = amplified * (std::fabs(f) * dp.scale + delta.scale);
      const double weight = p * f, weight_scale = amplified * std::fabs(f);
      sink(o_.dense[kEdgeWeights].data, p_.types.result, entry, {weight, weight_scale});
      sink(o_.dense[kEdgeDScores].data, p_.types.result, entry, {ds, ds_scale});
      own.add(alpha * ds, std::fabs(alpha) * ds_scale, [&](auto c) { return at(kAttentionY, j, c); });
      of_edges.add(alpha * ds, std::fabs(alpha) * ds_scale, [&](auto c) { return at(kEdges, entry, c); });
      Sums one(p_.m);
      one.add(alpha * ds, std::fabs(alpha) * ds_scale, [&](auto c) { return at(kEdgeQueries, i, c); });
      one.add(weight, weight_scale, [&](auto c) { return at(kEdgeDOut, i, c); });
      hand_in(sink, kEdgesGradient, entry, one);
    });
    hand_in(sink, kEdgeAttentionGradientX, i, own);
    hand_in(sink, kEdgeQueriesGradient, i, of_edges);
  }

 private:
  /// A row of sums.
  struct Sums {
    std::vector<ReferenceNumber> of;
    explicit Sums(std::int64_t columns) : of(static_cast<std::size_t>(columns)) {}
    /// Adds weight * row, where row(c) is an element and `scale` the scale of the weight.
    template <class Row>
    void add(double weight, double scale, const Row& row) {
      for (std::size_t c = 0; c < of.size(); ++c) {
        const double x = row(static_cast<std::int64_t>(c));
        of[c] = {of[c].value + weight * x, of[c].scale + scale * std::fabs(x)};
      }
    }
  };

  static ReferenceNumber sum_of(const ReferenceNumber& x, const ReferenceNumber& y) {
    return {x.value + y.value, x.scale + y.scale};
  }

  [[nodiscard]] double at(int operand, std::int64_t row, std::int64_t column) const {
    return read_element(p_.types.operands, o_.dense[operand].data, row * o_.dense[operand].ld + column);
  }
  [[nodiscard]] DType statistic_type() const {
    return p_.types.operands == DType::f64 ? DType::f64 : DType::f32;
  }
  [[nodiscard]] double statistic(std::int64_t row, std::int64_t column) const {
    const Operand& statistics = o_.dense[kAttentionStatistics];
    return read_element(statistic_type(), statistics.data, row * statistics.ld + column);
  }
  [[nodiscard]] std::int64_t place(std::int64_t k) const {
    return p_.packed.empty() ? k : p_.packed[static_cast<std::size_t>(k)];
  }
  [[nodiscard]] double factor(std::int64_t k) const {
    const void* const data = o_.dense[kEdgeFactors].data;
    return data == nullptr ? 1 : read_element(p_.types.operands, data, place(k));
  }
  template <class F>
  void entries(std::int64_t row, const F& f) const {
    const auto r = static_cast<std::size_t>(row);
    for (std::int64_t k = p_.a.row_ptr[r]; k < p_.a.row_ptr[r + 1]; ++k)
      f(k, std::int64_t{p_.a.col_idx[static_cast<std::size_t>(k)]});
  }

  [[nodiscard]] ReferenceNumber products(int x, std::int64_t i, int y, std::int64_t j,
                                         std::int64_t columns) const {
    ReferenceNumber sum;
    for (std::int64_t c = 0; c < columns; ++c) {
      const double product = at(x, i, c) * at(y, j, c);
      sum = sum_of(sum, {product, std::fabs(product)});
    }
    return sum;
  }
  /// Returns the argument of exp for entry k of row i in column j.
  [[nodiscard]] WeighedScore scored(std::int64_t i, std::int64_t k, std::int64_t j) const {
    const ReferenceNumber both = sum_of(products(kAttentionX, i, kAttentionY, j, p_.n),
                                        products(kEdgeQueries, i, kEdges, place(k), p_.m));
    return {o_.alpha * both.value, std::fabs(o_.alpha) * both.scale};
  }

  void hand_in(const ResultSink& sink, int operand, std::int64_t row, const Sums& sums) const {
    const Operand& to = o_.dense[operand];
    for (std::size_t c = 0; c < sums.of.size(); ++c)
      sink(to.data, p_.types.result, row * to.ld + static_cast<std::int64_t>(c), sums.of[c]);
  }

  const AttentionProblem& p_;
  const Operands& o_;
};

}  // namespace

void edge_attention(const AttentionProblem& problem, const Operands& operands, const ResultSink& sink) {
  const EdgeReference reference(problem, operands);
  for (std::int64_t i = 0; i < problem.a.rows; ++i) reference.forward(i, sink);
}

void edge_attention_gradient(const AttentionProblem& problem, const Operands& operands,
                             const ResultSink& sink) {
  const EdgeReference reference(problem, operands);
  for (std::int64_t i = 0; i < problem.a.rows; ++i) reference.gradient(i, sink);
}

}  // namespace sptile::runtime
