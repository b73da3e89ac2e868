// GATv2 attention over the rows of csr, and its gradients.
#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/core/gatv2_operands.hpp"
#include "runtime/cpu/task_row.hpp"

namespace sptile::runtime {
namespace {

class LeakyRow : public TaskRow {
 protected:
  LeakyRow(const Task& task, const RowMath& math, const CsrRow& row, int own, int other, int edges)
      : TaskRow(task, math, row), own_(own), other_(other), edges_(edges) {}

  [[nodiscard]] std::int64_t count_from(std::int64_t from) const { return batch(other_, from).count; }

  /// Returns the pairs of a batch in some columns.
  [[nodiscard]] LeakyRows pairs(std::int64_t from, std::int64_t first_column, std::int64_t columns) const {
    RowList rows = batch(other_, from);
    rows.data = at(other_, 0, first_column);
    const bool edges = edges_ >= 0 && operand(edges_).data != nullptr;
    return {at(own_, row_.row, first_column),
            at(kGatv2Vector, 0, first_column),
            rows,
            edges ? at(edges_, row_.first + from, first_column) : nullptr,
            edges ? operand(edges_).ld : 0,
            task_.operands.slope,
            columns};
  }

  /// Computes the arguments of exp for a batch.
  void score(std::int64_t from) {
    std::fill_n(score_, count_from(from), 0.0);
    for_each_slice(task_.sizes.n, [&](const Slice& slice) {
      math_.leaky_dots(pairs(from, slice.first, slice.count), score_);
    });
    for (std::int64_t k = 0; k < count_from(from); ++k)
      score_[k] = task_.operands.alpha * score_[k] + number(kAttentionBias, from + k, 0);
  }
  [[nodiscard]] double factor(std::int64_t k) const { return number(kGatv2Factors, k, 1); }

  double score_[kBatch];

 private:
  [[nodiscard]] double number(int list, std::int64_t k, double otherwise) const {
    const void* const data = operand(list).data;
    return data == nullptr ? otherwise : math_.read(data, row_.first + k);
  }

  int own_, other_, edges_;
};

class LeakyForward : LeakyRow {
 public:
  LeakyForward(const Task& task, const RowMath& math, const CsrRow& row)
      : LeakyRow(task, math, row, kAttentionX, kAttentionY, kGatv2Edges) {}

  void run() {
    find_statistics();
    for_each_slice(task_.sizes.n, [&](const Slice& slice) {
      sums_.clear();
      for (std::int64_t from = 0; from < row_.count; from += kBatch) {
        if (!one_batch()) weigh(from);
        double weights[kBatch];
        for (std::int64_t k = 0; k < count_from(from); ++k) weights[k] = weight_[k] * factor(from + k);
        RowList rows = batch(kAttentionY, from);
        rows.data = at(kAttentionY, 0, slice.first);
        math_.add(rows, weights, slice.count, sums_.bytes);
      }
      math_.store(sums_.bytes, inverse_, slice.count, result_at(kGatv2Out, row_.row, slice.first));
    });
  }

 private:
  static constexpr double kNone = -std::numeric_limits<double>::infinity();

  /// Rounds the maximum to its stored type, so that the gradient recomputes the same exponentials.
  void find_statistics() {
    double maximum = kNone, sum = 0;
    for (std::int64_t from = 0; from < row_.count; from += kBatch) {
      score(from);
      for (std::int64_t k = 0; k < count_from(from); ++k)
        if (score_[k] > maximum) maximum = score_[k];
    }
    maximum_ = maximum == kNone ? 0 : math_.wide ? maximum : double{static_cast<float>(maximum)};
    for (std::int64_t from = 0; from < row_.count; from += kBatch) {
      weigh(from);
      for (std::int64_t k = 0; k < count_from(from); ++k) sum += weight_[k];
    }
    inverse_ = sum == 0 ? 0 : 1 / sum;
    if (operand(kAttentionStatistics).data == nullptr) return;
    set_statistic(kAttentionStatistics, row_.row, kMaximum, maximum_);
    set_statistic(kAttentionStatistics, row_.row, kInverseSum, inverse_);
  }

  void weigh(std::int64_t from) {
    if (!one_batch()) score(from);
    for (std::int64_t k = 0; k < count_from(from); ++k) weight_[k] = std::exp(score_[k] - maximum_);
  }

  double maximum_ = 0, inverse_ = 0;
  double weight_[kBatch];
  Sums sums_;
};

class LeakyGradient : LeakyRow {
 public:
  LeakyGradient(const Task& task, const RowMath& math, const CsrRow& row, const Gatv2Side& side)
      : LeakyRow(task, math, row, side.own, side.other, side.of_columns ? -1 : kGatv2Edges), side_(side) {}

  void run() {
    if (!side_.of_columns) make_delta();
    for (std::int64_t from = 0; from < row_.count; from += kBatch) {
      weigh(from);
      if (!side_.of_columns) write_entries(from);
    }
    for_each_slice(task_.sizes.n, [&](const Slice& slice) {
      sums_.clear();
      by_vector_.clear();
      for (std::int64_t from = 0; from < row_.count; from += kBatch) {
        if (!one_batch()) weigh(from);
        math_.leaky_add(pairs(from, slice.first, slice.count), ds_, sums_.bytes,
                        side_.of_columns ? nullptr : by_vector_.bytes);
        if (!side_.of_columns) continue;
        RowList rows = batch(side_.other, from);
        rows.data = at(side_.dout, 0, slice.first);
        rows.ld = operand(side_.dout).ld;
        math_.add(rows, weight_, slice.count, sums_.bytes);
      }
      math_.store(sums_.bytes, 1, slice.count, result_at(side_.gradient, row_.row, slice.first));
      if (!side_.of_columns) write_vector(slice);
    });
  }

 private:
  static constexpr std::int32_t kThis = 0;

  void make_delta() {
    math_.dots(at(kGatv2Out, row_.row), {at(side_.dout, row_.row), 0, &kThis, 1}, task_.sizes.n, &delta_);
    set_statistic(side_.delta, row_.row, 0, delta_);
  }

  /// Computes the weights and the gradients with respect to the scores of a batch.
  void weigh(std::int64_t from) {
    score(from);
    double dp[kBatch];
    // A row of A has dout, a column of A the row of Y.
    const int own = side_.of_columns ? kAttentionY : side_.dout;
    RowList rows = batch(side_.of_columns ? side_.dout : kAttentionY, from);
    math_.dots(at(own, row_.row), rows, task_.sizes.n, dp);
    for (std::int64_t k = 0; k < rows.count; ++k) {
      const std::int64_t row = side_.of_columns ? rows.ids[k] : row_.row;
      const double delta = side_.of_columns ? statistic(side_.delta, row, 0) : delta_;
      const double p = std::exp(score_[k] - statistic(kAttentionStatistics, row, kMaximum)) *
                       statistic(kAttentionStatistics, row, kInverseSum);
      const double f = factor(from + k);
      weight_[k] = p * f;
      ds_[k] = task_.operands.alpha * p * (f * dp[k] - delta);
    }
  }

  /// Writes the weights of a batch and the gradients of its edges.
  void write_entries(std::int64_t from) {
    if (operand(kGatv2Weights).data != nullptr)
      for (std::int64_t k = 0; k < count_from(from); ++k)
        math_.write(operand(kGatv2Weights).data, row_.first + from + k, weight_[k]);
    if (operand(kGatv2EdgesGradient).data == nullptr) return;
    for (std::int64_t k = from; k < from + count_from(from); ++k)
      for_each_slice(task_.sizes.n, [&](const Slice& slice) {
        LeakyRows one = pairs(k, slice.first, slice.count);
        one.rows.count = 1;
        sums_.clear();
        math_.leaky_add(one, ds_ + (k - from), sums_.bytes, nullptr);
        math_.store(sums_.bytes, 1, slice.count, result_at(kGatv2EdgesGradient, row_.first + k, slice.first));
      });
  }

  /// Sums have the type of statistics.
  void write_vector(const Slice& slice) {
    const Operand& to = operand(kGatv2VectorGradient);
    const std::size_t size = math_.wide ? sizeof(double) : sizeof(float);
    std::memcpy(
        static_cast<std::byte*>(to.data) + static_cast<std::size_t>(row_.row * to.ld + slice.first) * size,
        by_vector_.bytes, static_cast<std::size_t>(slice.count) * size);
  }

  const Gatv2Side& side_;
  double delta_ = 0;
  double weight_[kBatch], ds_[kBatch];
  Sums sums_, by_vector_;
};

}  // namespace

void gatv2_attend(const Task& task, const Chunk& chunk, const RowMath& math) noexcept {
  for_each_row(task, chunk, [&](const CsrRow& row) { LeakyForward(task, math, row).run(); });
}

void gatv2_attend_gradient(const Task& task, const Chunk& chunk, const RowMath& math) noexcept {
  for_each_row(task, chunk, [&](const CsrRow& row) { LeakyGradient(task, math, row, kGatv2Rows).run(); });
}

void gatv2_attend_gradient_t(const Task& task, const Chunk& chunk, const RowMath& math) noexcept {
  for_each_row(task, chunk, [&](const CsrRow& row) { LeakyGradient(task, math, row, kGatv2Columns).run(); });
}

}  // namespace sptile::runtime
