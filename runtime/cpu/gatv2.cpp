// GATv2 attention over the rows of csr, and its gradients.
#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/core/gatv2_operands.hpp"
#include "runtime/cpu/task_row.hpp"

namespace sptile::runtime {
namespace {

/// Features of entries, and their products with columns of W. Both are kept for the next call.
class Features {
 public:
  static constexpr std::int64_t kRows = 32;  ///< maximum of products

  /// Returns the features of entries [first, first + count), with some columns of W.
  FeatureRows rows(const Task& task, const RowMath& math, const Gatv2Features& operands, std::int64_t first,
                   std::int64_t count, const Slice& slice) {
    if (column_ != slice.first) load(task, math, operands.w, slice);
    const Operand& from = task.operands.dense[operands.edges];
    return {static_cast<const std::byte*>(from.data) + first * from.ld * math.operand_bytes,
            from.ld,
            count,
            static_cast<int>(task.sizes.m),
            w_,
            slice.count};
  }
  /// Returns their products; count <= kRows.
  const void* products(const Task& task, const RowMath& math, const Gatv2Features& operands,
                       std::int64_t first, std::int64_t count, const Slice& slice) {
    if (first == first_ && count == count_ && slice.first == column_) return products_;
    math.project(rows(task, math, operands, first, count, slice), products_);
    first_ = first;
    count_ = count;
    return products_;
  }

 private:
  void load(const Task& task, const RowMath& math, int w, const Slice& slice) {
    const Operand& from = task.operands.dense[w];
    for (std::int64_t c = 0; c < slice.count; ++c)
      for (std::int64_t f = 0; f < task.sizes.m; ++f) {
        const double x = math.read(from.data, (slice.first + c) * from.ld + f);
        const std::int64_t at = f * kSumColumns + c;
        if (math.wide)
          reinterpret_cast<double*>(w_)[at] = x;
        else
          reinterpret_cast<float*>(w_)[at] = static_cast<float>(x);
      }
    column_ = slice.first;
  }

  std::int64_t column_ = -1, first_ = -1, count_ = 0;
  alignas(64) std::byte w_[kMostFeatures * kSumBytes];
  alignas(64) std::byte products_[kRows * kSumBytes];
};

class LeakyRow : public TaskRow {
 protected:
  /// edges: operand of rows of entries, -1: none. features: null, or e is W times the row of an entry.
  LeakyRow(const Task& task, const RowMath& math, const CsrRow& row, int own, int other, int edges,
           Features* features)
      : TaskRow(task, math, row), own_(own), other_(other), edges_(edges), features_(features) {}

  [[nodiscard]] std::int64_t count_from(std::int64_t from) const { return batch(other_, from).count; }

  /// Calls f(pairs, k) with the pairs of a batch in some columns: all, or some from the k-th on.
  template <class F>
  void for_each_pairs(std::int64_t from, const Slice& slice, const F& f) const {
    const std::int64_t count = count_from(from);
    if (features_ == nullptr) return f(pairs(from, count, slice), 0);
    for (std::int64_t k = 0; k < count; k += Features::kRows) {
      LeakyRows some = pairs(from + k, std::min(count - k, Features::kRows), slice);
      some.edges =
          features_->products(task_, math_, kGatv2Features, row_.first + from + k, some.rows.count, slice);
      some.edges_ld = slice.count;
      some.summed = true;
      f(some, k);
    }
  }
  /// Returns `count` pairs without features.
  [[nodiscard]] LeakyRows pairs(std::int64_t from, std::int64_t count, const Slice& slice) const {
    RowList rows = batch(other_, from);
    rows.data = at(other_, 0, slice.first);
    rows.count = count;
    const bool edges = features_ == nullptr && edges_ >= 0 && operand(edges_).data != nullptr;
    return {at(own_, row_.row, slice.first),
            at(kGatv2Vector, 0, slice.first),
            rows,
            edges ? at(edges_, row_.first + from, slice.first) : nullptr,
            edges ? operand(edges_).ld : 0,
            task_.operands.slope,
            slice.count,
            false};
  }

  /// Computes the arguments of exp for a batch.
  void score(std::int64_t from) {
    std::fill_n(score_, count_from(from), 0.0);
    for_each_slice(task_.sizes.n, [&](const Slice& slice) {
      for_each_pairs(from, slice,
                     [&](const LeakyRows& some, std::int64_t k) { math_.leaky_dots(some, score_ + k); });
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
  Features* features_;
};

class LeakyForward : LeakyRow {
 public:
  LeakyForward(const Task& task, const RowMath& math, const CsrRow& row, Features* features = nullptr)
      : LeakyRow(task, math, row, kAttentionX, kAttentionY, kGatv2Edges, features),
        out_(features == nullptr ? kGatv2Out : kGatv2EdgesOut) {}

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
      math_.store(sums_.bytes, inverse_, slice.count, result_at(out_, row_.row, slice.first));
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

  int out_;
  double maximum_ = 0, inverse_ = 0;
  double weight_[kBatch];
  Sums sums_;
};

class LeakyGradient : LeakyRow {
 public:
  LeakyGradient(const Task& task, const RowMath& math, const CsrRow& row, const Gatv2Side& side,
                Features* features = nullptr)
      : LeakyRow(task, math, row, side.own, side.other, side.with_edges() ? kGatv2Edges : -1, features),
        side_(side) {}

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
        for_each_pairs(from, slice, [&](const LeakyRows& some, std::int64_t k) {
          math_.leaky_add(some, ds_ + k, sums_.bytes, side_.of_columns ? nullptr : by_vector_.bytes);
        });
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
    math_.dots(at(side_.out, row_.row), {at(side_.dout, row_.row), 0, &kThis, 1}, task_.sizes.n, &delta_);
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

  /// Writes the weights of a batch and the gradients of its edges, or of its scores.
  void write_entries(std::int64_t from) {
    if (side_.projects) {
      for (std::int64_t k = 0; k < count_from(from); ++k) write_ds(row_.first + from + k, ds_[k]);
      return;
    }
    if (operand(kGatv2Weights).data != nullptr)
      for (std::int64_t k = 0; k < count_from(from); ++k)
        math_.write(operand(kGatv2Weights).data, row_.first + from + k, weight_[k]);
    if (operand(kGatv2EdgesGradient).data == nullptr) return;
    for (std::int64_t k = from; k < from + count_from(from); ++k)
      for_each_slice(task_.sizes.n, [&](const Slice& slice) {
        const LeakyRows one = pairs(k, 1, slice);
        sums_.clear();
        math_.leaky_add(one, ds_ + (k - from), sums_.bytes, nullptr);
        math_.store(sums_.bytes, 1, slice.count, result_at(kGatv2EdgesGradient, row_.first + k, slice.first));
      });
  }

  void write_ds(std::int64_t entry, double x) const {
    void* const to = operand(kGatv2EdgesDs).data;
    if (math_.wide)
      static_cast<double*>(to)[entry] = x;
    else
      static_cast<float*>(to)[entry] = static_cast<float>(x);
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

/// Columns of W whose gradient a chunk sums over all entries in order, independent of the division of work.
class WeightsColumns {
 public:
  static constexpr std::int64_t kColumns = kOuterColumns;

  WeightsColumns(const Task& task, const RowMath& math)
      : task_(task), math_(math), a_(formats::as_csr(task.format)), m_(static_cast<int>(task.sizes.m)) {}

  /// Computes rows [first, first + count) of dW; count <= kColumns.
  void run(std::int64_t first, std::int64_t count) {
    const Slice slice = {first, static_cast<int>(count)};
    LeakyRows pairs{};
    pairs.a = at(kGatv2Vector, 0, first);
    pairs.slope = task_.operands.slope;
    pairs.columns = pairs.edges_ld = count;
    pairs.summed = true;
    std::memset(dw_, 0, sizeof dw_);
    std::memset(sums_, 0, sizeof sums_);
    std::int64_t summed = 0;
    for (std::int64_t r = 0; r < a_.rows; ++r) {
      const std::int64_t end = a_.row_ptr[static_cast<std::size_t>(r) + 1];
      pairs.x = at(kAttentionX, task_.row_order != nullptr ? task_.row_order[r] : r, first);
      for (std::int64_t k = a_.row_ptr[static_cast<std::size_t>(r)]; k < end; k += Features::kRows) {
        const std::int64_t here = std::min(end - k, Features::kRows);
        pairs.rows = {at(kAttentionY, 0, first), operand(kAttentionY).ld, a_.col_idx.data() + k, here};
        pairs.edges = features_.products(task_, math_, kGatv2WeightsFeatures, k, here, slice);
        for (std::int64_t i = 0; i < here; ++i) ds_[i] = ds(k + i);
        math_.leaky_outer(pairs, features_.rows(task_, math_, kGatv2WeightsFeatures, k, here, slice), ds_,
                          sums_);
        summed += here;
        if (summed < kBatch) continue;
        flush(count);
        summed = 0;
      }
    }
    flush(count);
    write(first, count);
  }

 private:
  [[nodiscard]] const Operand& operand(int i) const { return task_.operands.dense[i]; }
  [[nodiscard]] const std::byte* at(int i, std::int64_t row, std::int64_t column) const {
    return static_cast<const std::byte*>(operand(i).data) +
           (row * operand(i).ld + column) * math_.operand_bytes;
  }
  [[nodiscard]] double ds(std::int64_t k) const {
    const void* const data = operand(kGatv2WeightsDs).data;
    return math_.wide ? static_cast<const double*>(data)[k] : double{static_cast<const float*>(data)[k]};
  }

  /// Adds the sums of some entries to those of all, in double.
  void flush(std::int64_t count) {
    for (int f = 0; f < m_; ++f)
      for (std::int64_t c = 0; c < count; ++c) {
        const std::int64_t i = f * kOuterColumns + c;
        dw_[c][f] += math_.wide ? reinterpret_cast<const double*>(sums_)[i]
                                : double{reinterpret_cast<const float*>(sums_)[i]};
      }
    std::memset(sums_, 0, sizeof sums_);
  }
  void write(std::int64_t first, std::int64_t count) const {
    const Operand& to = operand(kGatv2WeightsGradient);
    for (std::int64_t c = 0; c < count; ++c) {
      const double a = math_.read(operand(kGatv2Vector).data, first + c);
      for (int f = 0; f < m_; ++f) math_.write(to.data, (first + c) * to.ld + f, a * dw_[c][f]);
    }
  }

  const Task& task_;
  const RowMath& math_;
  const formats::CsrView a_;
  const int m_;
  Features features_;
  double ds_[Features::kRows], dw_[kColumns][kMostFeatures];
  alignas(64) std::byte sums_[kMostFeatures * kOuterColumns * sizeof(double)];
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

void gatv2_attend_features(const Task& task, const Chunk& chunk, const RowMath& math) noexcept {
  Features features;
  for_each_row(task, chunk, [&](const CsrRow& row) { LeakyForward(task, math, row, &features).run(); });
}

void gatv2_attend_features_gradient(const Task& task, const Chunk& chunk, const RowMath& math) noexcept {
  Features features;
  for_each_row(task, chunk,
               [&](const CsrRow& row) { LeakyGradient(task, math, row, kGatv2EdgesRows, &features).run(); });
}

void gatv2_attend_features_gradient_t(const Task& task, const Chunk& chunk, const RowMath& math) noexcept {
  Features features;
  for_each_row(task, chunk, [&](const CsrRow& row) {
    LeakyGradient(task, math, row, kGatv2EdgesColumns, &features).run();
  });
}

void gatv2_features_weights(const Task& task, const Chunk& chunk, const RowMath& math) noexcept {
  WeightsColumns columns(task, math);
  const std::int64_t end = std::min(chunk.last_col, task.n);
  for (std::int64_t first = chunk.first_col; first < end; first += WeightsColumns::kColumns)
    columns.run(first, std::min(end - first, WeightsColumns::kColumns));
}

}  // namespace sptile::runtime
