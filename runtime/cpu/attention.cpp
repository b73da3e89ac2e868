// Attention over the rows of csr, and its gradients. Scores are computed in batches of entries. For longer
// rows they are recomputed in each pass, because no memory is allocated for them.
#include <cmath>
#include <limits>

#include "runtime/core/attention_operands.hpp"
#include "runtime/core/score.hpp"
#include "runtime/cpu/task_row.hpp"

namespace sptile::runtime {
namespace {

class ScoredRow : public TaskRow {
 protected:
  using TaskRow::TaskRow;

  /// Computes the scores of a batch: the arguments of exp, and the parts of the derivatives.
  void score(int own, int other, std::int64_t from) {
    const RowList rows = batch(other, from);
    const std::int64_t n = task_.sizes.n;
    const std::byte* const mine = at(own, row_.row);
    double both[kBatch], squares[kBatch] = {}, square = 0;
    const Score kind = task_.variant.score;
    if (kind == Score::additive) {
      for (std::int64_t k = 0; k < rows.count; ++k)
        both[k] = math_.read(mine, 0) + math_.read(rows.data, rows.ids[k] * rows.ld);
    } else {
      math_.dots(mine, rows, n, both);
    }
    if (kind == Score::cosine) {
      constexpr std::int32_t kThis = 0;
      math_.squares({mine, 0, &kThis, 1}, n, &square);
      math_.squares(rows, n, squares);
    }
    for (std::int64_t k = 0; k < rows.count; ++k) {
      parts_[k] = score_of(kind, both[k], square, squares[k], task_.operands.slope);
      score_[k] = task_.operands.alpha * parts_[k].score + bias(from + k);
    }
  }

  double score_[kBatch];
  ScoreParts<double> parts_[kBatch];

 private:
  [[nodiscard]] double bias(std::int64_t k) const {
    const void* const list = operand(kAttentionBias).data;
    return list == nullptr ? 0 : math_.read(list, row_.first + k);
  }
};

class Forward : ScoredRow {
 public:
  using ScoredRow::ScoredRow;

  void run() {
    find_statistics();
    for_each_slice(task_.sizes.m, [&](const Slice& slice) {
      sums_.clear();
      for (std::int64_t from = 0; from < row_.count; from += kBatch) {
        weigh(from);
        RowList rows = batch(kAttentionV, from);
        rows.data = at(kAttentionV, 0, slice.first);
        math_.add(rows, weight_, slice.count, sums_.bytes);
      }
      math_.store(sums_.bytes, inverse_, slice.count, result_at(kAttentionOut, row_.row, slice.first));
    });
  }

 private:
  static constexpr double kNone = -std::numeric_limits<double>::infinity();

  /// Rounds the maximum to its stored type, so that the gradient recomputes the same exponentials.
  void find_statistics() {
    double maximum = kNone, sum = 0;
    for (std::int64_t from = 0; from < row_.count; from += kBatch) {
      score(kAttentionX, kAttentionY, from);
      for (std::int64_t k = 0; k < batch(kAttentionY, from).count; ++k)
        if (score_[k] > maximum) maximum = score_[k];
    }
    maximum_ = maximum == kNone ? 0 : math_.wide ? maximum : double{static_cast<float>(maximum)};
    for (std::int64_t from = 0; from < row_.count; from += kBatch) {
      weigh(from);
      for (std::int64_t k = 0; k < batch(kAttentionY, from).count; ++k) sum += weight_[k];
    }
    inverse_ = sum == 0 ? 0 : 1 / sum;
    if (operand(kAttentionStatistics).data == nullptr) return;
    set_statistic(kAttentionStatistics, row_.row, kMaximum, maximum_);
    set_statistic(kAttentionStatistics, row_.row, kInverseSum, inverse_);
  }

  void weigh(std::int64_t from) {
    if (!one_batch()) score(kAttentionX, kAttentionY, from);
    if (one_batch() && weighed_) return;
    for (std::int64_t k = 0; k < batch(kAttentionY, from).count; ++k)
      weight_[k] = std::exp(score_[k] - maximum_);
    weighed_ = true;
  }

  double maximum_ = 0, inverse_ = 0;
  bool weighed_ = false;
  double weight_[kBatch];
  Sums sums_;
};

class Gradient : ScoredRow {
 public:
  Gradient(const Task& task, const RowMath& math, const CsrRow& row, const AttentionSide& side)
      : ScoredRow(task, math, row), side_(side) {}

  void run() {
    if (side_.out >= 0) make_delta();
    if (one_batch() && row_.count > 0) weigh(0);
    const bool additive = task_.variant.score == Score::additive;
    for_each_slice(task_.sizes.n, [&](const Slice& slice) {
      const double by_own = sum_rows(additive ? kOnes : side_.other, ds_, slice);
      if (by_own != 0) {
        constexpr std::int32_t kThis = 0;
        math_.add({at(side_.own, row_.row, slice.first), 0, &kThis, 1}, &by_own, slice.count, sums_.bytes);
      }
      store(side_.own_gradient, task_.operands.alpha, slice);
    });
    if (side_.values_gradient < 0) return;
    for_each_slice(task_.sizes.m, [&](const Slice& slice) {
      sum_rows(side_.other_values, p_, slice);
      store(side_.values_gradient, 1, slice);
    });
  }

 private:
  static constexpr int kOnes = -1;  ///< operand index for rows that consist of a single 1

  void make_delta() {
    constexpr std::int32_t kThis = 0;
    double delta = 0;
    math_.dots(at(side_.out, row_.row), {at(side_.own_values, row_.row), 0, &kThis, 1}, task_.sizes.m,
               &delta);
    set_statistic(side_.delta, row_.row, 0, delta);
    delta_ = delta;
  }

  /// Computes p and ds, the gradient with respect to the score, for a batch.
  void weigh(std::int64_t from) {
    score(side_.own, side_.other, from);
    double dp[kBatch];
    const RowList rows = batch(side_.other_values, from);
    math_.dots(at(side_.own_values, row_.row), rows, task_.sizes.m, dp);
    if (from == 0) by_own_ = 0;
    for (std::int64_t k = 0; k < rows.count; ++k) {
      const std::int64_t row = side_.of_columns ? rows.ids[k] : row_.row;
      const double delta = side_.of_columns ? statistic(side_.delta, row, 0) : delta_;
      p_[k] = std::exp(score_[k] - statistic(kAttentionStatistics, row, kMaximum)) *
              statistic(kAttentionStatistics, row, kInverseSum);
      const double ds = p_[k] * (dp[k] - delta);
      if (side_.dbias >= 0 && operand(side_.dbias).data != nullptr)
        math_.write(operand(side_.dbias).data, row_.first + from + k, ds);
      ds_[k] = ds * parts_[k].by_other;
      by_own_ += ds * parts_[k].by_own;
    }
  }

  /// Adds the weighted rows of all entries in the columns of a slice. Returns the factor of the row itself.
  double sum_rows(int of, const double* weights, const Slice& slice) {
    sums_.clear();
    for (std::int64_t from = 0; from < row_.count; from += kBatch) {
      if (!one_batch()) weigh(from);
      RowList rows = batch(side_.other, from);
      rows.data = of == kOnes ? math_.one : at(of, 0, slice.first);
      rows.ld = of == kOnes ? 0 : operand(of).ld;
      math_.add(rows, weights, slice.count, sums_.bytes);
    }
    return by_own_;
  }

  void store(int of, double scale, const Slice& slice) {
    math_.store(sums_.bytes, scale, slice.count, result_at(of, row_.row, slice.first));
  }

  const AttentionSide& side_;
  double delta_ = 0, by_own_ = 0;
  double p_[kBatch], ds_[kBatch];
  Sums sums_;
};

}  // namespace

void attend(const Task& task, const Chunk& chunk, const RowMath& math) noexcept {
  for_each_row(task, chunk, [&](const CsrRow& row) { Forward(task, math, row).run(); });
}

void attend_gradient(const Task& task, const Chunk& chunk, const RowMath& math) noexcept {
  for_each_row(task, chunk, [&](const CsrRow& row) { Gradient(task, math, row, kRowsSide).run(); });
}

void attend_gradient_t(const Task& task, const Chunk& chunk, const RowMath& math) noexcept {
  for_each_row(task, chunk, [&](const CsrRow& row) { Gradient(task, math, row, kColumnsSide).run(); });
}

}  // namespace sptile::runtime
