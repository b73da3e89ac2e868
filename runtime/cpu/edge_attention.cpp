// Attention with edge features over the rows of csr, and its gradient.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "runtime/core/edge_attention_operands.hpp"
#include "runtime/cpu/task_row.hpp"

namespace sptile::runtime {
namespace {

/// Ids of the rows of edges in a batch.
constexpr std::array<std::int32_t, kBatch> kInOrder = [] {
  std::array<std::int32_t, kBatch> ids{};
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}();

class EdgeRow : public TaskRow {
 protected:
  using TaskRow::TaskRow;

  [[nodiscard]] std::int64_t count_from(std::int64_t from) const {
    return std::min<std::int64_t>(row_.count - from, kBatch);
  }
  /// Returns the rows of Y or V of a batch.
  [[nodiscard]] RowList others(int of, std::int64_t from, std::int64_t column = 0) const {
    RowList rows = batch(of, from);
    rows.data = at(of, 0, column);
    return rows;
  }
  /// Returns the rows of edges of a batch.
  [[nodiscard]] RowList edges(std::int64_t from, std::int64_t column = 0) const {
    return {at(kEdges, row_.first + from, column), operand(kEdges).ld, kInOrder.data(), count_from(from)};
  }
  [[nodiscard]] double factor(std::int64_t k) const {
    const void* const data = operand(kEdgeFactors).data;
    return data == nullptr ? 1 : math_.read(data, row_.first + k);
  }

  /// Computes to[k] = own . other_k + of_edges . edge_k for a batch.
  void products(int own, int other, int of_edges, std::int64_t from, double* to) const {
    double by_edge[kBatch];
    math_.dots(at(own, row_.row), others(other, from), task_.sizes.n, to);
    math_.dots(at(of_edges, row_.row), edges(from), task_.sizes.m, by_edge);
    for (std::int64_t k = 0; k < count_from(from); ++k) to[k] += by_edge[k];
  }
  /// Computes the arguments of exp for a batch.
  void score(std::int64_t from) {
    products(kAttentionX, kAttentionY, kEdgeQueries, from, score_);
    for (std::int64_t k = 0; k < count_from(from); ++k) score_[k] *= task_.operands.alpha;
  }

  /// Writes `scale` times the sums of weighted rows. rows(from, column) are those of a batch; weigh(from)
  /// returns their weights.
  template <class Rows, class Weigh>
  void sum(int result, std::int64_t columns, double scale, const Rows& rows, const Weigh& weigh) {
    for_each_slice(columns, [&](const Slice& slice) {
      sums_.clear();
      for (std::int64_t from = 0; from < row_.count; from += kBatch)
        math_.add(rows(from, slice.first), weigh(from), slice.count, sums_.bytes);
      math_.store(sums_.bytes, scale, slice.count, result_at(result, row_.row, slice.first));
    });
  }

  double score_[kBatch];
  Sums sums_;
};

class EdgeForward : EdgeRow {
 public:
  using EdgeRow::EdgeRow;

  void run() {
    find_statistics();
    const auto weigh_kept = [&](std::int64_t from) {
      weigh(from);
      for (std::int64_t k = 0; k < count_from(from); ++k) kept_[k] = weight_[k] * factor(from + k);
      return static_cast<const double*>(kept_);
    };
    const auto values = [&](std::int64_t from, std::int64_t column) {
      return others(kAttentionV, from, column);
    };
    const auto features = [&](std::int64_t from, std::int64_t column) { return edges(from, column); };
    sum(kEdgeAttentionOut, task_.sizes.n, inverse_, values, weigh_kept);
    sum(kEdgeOut, task_.sizes.m, inverse_, features, weigh_kept);
  }

 private:
  static constexpr double kNone = -std::numeric_limits<double>::infinity();

  /// Rounds the maximum to its stored type, so that the gradient recomputes the same exponentials.
  void find_statistics() {
    double maximum = kNone, total = 0;
    for (std::int64_t from = 0; from < row_.count; from += kBatch) {
      score(from);
      for (std::int64_t k = 0; k < count_from(from); ++k)
        if (score_[k] > maximum) maximum = score_[k];
    }
    maximum_ = maximum == kNone ? 0 : math_.wide ? maximum : double{static_cast<float>(maximum)};
    for (std::int64_t from = 0; from < row_.count; from += kBatch) {
      weigh(from);
      for (std::int64_t k = 0; k < count_from(from); ++k) total += weight_[k];
    }
    inverse_ = total == 0 ? 0 : 1 / total;
    if (operand(kAttentionStatistics).data == nullptr) return;
    set_statistic(kAttentionStatistics, row_.row, kMaximum, maximum_);
    set_statistic(kAttentionStatistics, row_.row, kInverseSum, inverse_);
  }

  void weigh(std::int64_t from) {
    if (one_batch() && weighed_) return;
    if (!one_batch()) score(from);
    for (std::int64_t k = 0; k < count_from(from); ++k) weight_[k] = std::exp(score_[k] - maximum_);
    weighed_ = true;
  }

  double maximum_ = 0, inverse_ = 0;
  bool weighed_ = false;
  double weight_[kBatch], kept_[kBatch];
};

class EdgeGradient : EdgeRow {
 public:
  using EdgeRow::EdgeRow;

  void run() {
    make_delta();
    for (std::int64_t from = 0; from < row_.count; from += kBatch) {
      weigh(from);
      write_entries(from);
    }
    const auto by_score = [&](std::int64_t from) {
      if (!one_batch()) weigh(from);
      return static_cast<const double*>(ds_);
    };
    const auto keys = [&](std::int64_t from, std::int64_t column) {
      return others(kAttentionY, from, column);
    };
    const auto features = [&](std::int64_t from, std::int64_t column) { return edges(from, column); };
    const double alpha = task_.operands.alpha;
    sum(kEdgeAttentionGradientX, task_.sizes.n, alpha, keys, by_score);
    sum(kEdgeQueriesGradient, task_.sizes.m, alpha, features, by_score);
  }

 private:
  static constexpr std::int32_t kThis = 0;

  [[nodiscard]] RowList own(int of, std::int64_t column = 0) const {
    return {at(of, row_.row, column), 0, &kThis, 1};
  }

  void make_delta() {
    double of_edges = 0;
    math_.dots(at(kEdgeAttentionOut, row_.row), own(kEdgeAttentionDOut), task_.sizes.n, &delta_);
    math_.dots(at(kEdgeOut, row_.row), own(kEdgeDOut), task_.sizes.m, &of_edges);
    delta_ += of_edges;
  }

  /// Computes the weights and the gradients with respect to the scores of a batch.
  void weigh(std::int64_t from) {
    score(from);
    double dp[kBatch];
    products(kEdgeAttentionDOut, kAttentionV, kEdgeDOut, from, dp);
    const double maximum = statistic(kAttentionStatistics, row_.row, kMaximum);
    const double inverse = statistic(kAttentionStatistics, row_.row, kInverseSum);
    for (std::int64_t k = 0; k < count_from(from); ++k) {
      const double p = std::exp(score_[k] - maximum) * inverse, f = factor(from + k);
      weight_[k] = p * f;
      ds_[k] = p * (f * dp[k] - delta_);
    }
  }

  void write_list(int list, std::int64_t from, const double* numbers) const {
    if (operand(list).data == nullptr) return;
    for (std::int64_t k = 0; k < count_from(from); ++k)
      math_.write(operand(list).data, row_.first + from + k, numbers[k]);
  }

  /// Writes the results of the entries of a batch.
  void write_entries(std::int64_t from) {
    write_list(kEdgeWeights, from, weight_);
    write_list(kEdgeDScores, from, ds_);
    if (operand(kEdgesGradient).data == nullptr) return;
    for (std::int64_t k = 0; k < count_from(from); ++k) {
      const double by_query = task_.operands.alpha * ds_[k];
      for_each_slice(task_.sizes.m, [&](const Slice& slice) {
        sums_.clear();
        math_.add(own(kEdgeQueries, slice.first), &by_query, slice.count, sums_.bytes);
        math_.add(own(kEdgeDOut, slice.first), &weight_[k], slice.count, sums_.bytes);
        math_.store(sums_.bytes, 1, slice.count,
                    result_at(kEdgesGradient, row_.first + from + k, slice.first));
      });
    }
  }

  double delta_ = 0;
  double weight_[kBatch], ds_[kBatch];
};

}  // namespace

void edge_attend(const Task& task, const Chunk& chunk, const RowMath& math) noexcept {
  for_each_row(task, chunk, [&](const CsrRow& row) { EdgeForward(task, math, row).run(); });
}

void edge_attend_gradient(const Task& task, const Chunk& chunk, const RowMath& math) noexcept {
  for_each_row(task, chunk, [&](const CsrRow& row) { EdgeGradient(task, math, row).run(); });
}

}  // namespace sptile::runtime
