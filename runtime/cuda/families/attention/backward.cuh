// Gradients of attention. Weights are recomputed from scores and row statistics, so no array has the size of
// the entries. The rows of an entry are loaded once for its score, its dp, and the sums.
#pragma once

#include "runtime/cuda/families/attention/group.cuh"

namespace sptile::runtime::cuda {

template <class S, const AttentionSide& kSide>
class AttentionBackward : public AttentionGroup<S, AttentionBackward<S, kSide>> {
  using Base = AttentionGroup<S, AttentionBackward<S, kSide>>;
  friend Base;
  using Base::Base, Base::task_, Base::shared_, Base::lane_, Base::slice_;
  using typename Base::Acc;
  using typename Base::Chunk;
  using typename Base::Dense;
  using typename Base::Math;
  template <bool kOneRow>
  using Entries = typename Base::template Entries<kOneRow>;
  template <bool kOneRow>
  using Pairs = typename Base::template Pairs<kOneRow>;
  static constexpr bool kSumsValues = kSide.values_gradient >= 0;

 public:
  static constexpr int kLanes = S::kLanes;
  static constexpr int kPartial = (kSumsValues ? 2 : 1) * S::kElements + 1;

 private:
  __device__ void prepare(const CsrWork& work) {
    const int most = Base::most_rows(work);
    const bool cosine = task_.score == Score::cosine;
    for (int r = 0; r < most; ++r) {
      RowNumbers<Acc> numbers;
      if (cosine) numbers.square = this->own_product(work, r, kSide.own, kSide.own, task_.n);
      if constexpr (!kSide.of_columns)
        numbers.delta = this->own_product(work, r, kSide.out, kSide.own_values, task_.m);
      if (lane_ != 0 || r >= work.rows) continue;
      if constexpr (!kSide.of_columns) find_statistics(work, r, numbers);
      shared_.numbers[r] = numbers;
    }
  }

  __device__ void find_statistics(const CsrWork& work, int r, RowNumbers<Acc>& numbers) const {
    const std::int64_t row = shared_.ends[r].row;
    numbers.maximum = this->statistic(kAttentionStatistics, row, kMaximum);
    numbers.inverse = this->statistic(kAttentionStatistics, row, kInverseSum);
    const bool first =
        !work.piece || task_.splits[task_.pieces[this->item_].split].first_piece == this->item_;
    if (slice_ == 0 && first) this->set_statistic(kSide.delta, row, 0, numbers.delta);
  }

  /// Returns the numbers of entry u's row, from its statistics.
  template <bool kOneRow>
  __device__ RowNumbers<Acc> numbers_of(const Entries<kOneRow>& these, int u) const {
    if constexpr (!kSide.of_columns) return shared_.numbers[these.number[these.row_of(u)]];
    RowNumbers<Acc> numbers;
    if (!these.there[u]) return numbers;
    numbers.maximum = this->statistic(kAttentionStatistics, these.column[u], kMaximum);
    numbers.inverse = this->statistic(kAttentionStatistics, these.column[u], kInverseSum);
    numbers.delta = this->statistic(kSide.delta, these.column[u], 0);
    return numbers;
  }

  template <bool kOneRow>
  __device__ __forceinline__ void batch(const CsrWork& work, int done, int j) {
    const Entries<kOneRow> these = this->template entries<kOneRow>(work, done, j);
    constexpr int kCount = these.kCount;
    auto products = this->products_beside(these, kSide.own, kSide.other, task_.n);
    auto dp = this->products_beside(these, kSide.own_values, kSide.other_values, task_.m);
    Pairs<kOneRow> pairs = {}, values;
    if (task_.score != Score::additive)
      this->load(pairs, these, kSide.own, kSide.other, this->kept_slice(task_.n), task_.n);
    load_values(values, pairs, these);
    RowNumbers<Acc> numbers[kCount];
#pragma unroll
    for (int u = 0; u < kCount; ++u) numbers[u] = numbers_of<kOneRow>(these, u);
    dp.template add<false>(values);
    reduce_each<S::kLanes>(dp.both, lane_);
    ScoreParts<Acc> parts[kCount];
    Acc scores[kCount];
    this->score(products, pairs, these, j, kSide.own, kSide.other, parts, scores);
#pragma unroll
    for (int u = 0; u < kCount; ++u) {
      const Acc p = NaturalExponential::of(scores[u] - numbers[u].maximum) * numbers[u].inverse;
      const Acc ds = p * (dp.both[u] - numbers[u].delta);
      if (these.there[u]) write_bias(work.first + done + u, ds);
      add(p, ds, parts[u], pairs.other[u], values.other[u]);
      if constexpr (!kOneRow) this->end_rows(work, done + u + 1);
    }
  }

  template <bool kOneRow>
  __device__ __forceinline__ void load_values(Pairs<kOneRow>& values, const Pairs<kOneRow>& pairs,
                                              const Entries<kOneRow>& these) const {
    const int kept = this->kept_slice(task_.m);
#pragma unroll
    for (int u = 0; u < these.kRows; ++u)
      this->load(values.own[u], kSide.own_values, these.row[u], kept, task_.m, these.there[u]);
#pragma unroll
    for (int u = 0; u < these.kCount; ++u) {
      if (task_.tied)
        values.other[u] = pairs.other[u];
      else
        this->load(values.other[u], kSide.other_values, these.column[u], kept, task_.m, these.there[u]);
    }
  }

  __device__ void write_bias(std::int64_t entry, Acc ds) const {
    if constexpr (kSide.dbias >= 0)
      if (lane_ == 0 && slice_ == 0 && this->has(kSide.dbias))
        write_number<Dense>(this->rows_of(kSide.dbias), entry, task_.wide, ds);
  }

  __device__ __forceinline__ void add(Acc p, Acc ds, const ScoreParts<Acc>& parts, const Chunk& other,
                                      const Chunk& value) {
    const Acc weight = ds * parts.by_other;
    by_own_ += ds * parts.by_own;
    const bool additive = task_.score == Score::additive;
#pragma unroll
    for (int e = 0; e < S::kElements; ++e) {
      own_[e] += weight * (additive ? Acc{1} : chunk_at<Math>(other, e));
      if constexpr (kSumsValues) values_[e] += p * chunk_at<Math>(value, e);
    }
  }

  __device__ void write(std::int64_t row, int /*number*/) {
    if (task_.score == Score::cosine) {
      Chunk mine;
      this->load(mine, kSide.own, row, slice_, task_.n, true);
#pragma unroll
      for (int e = 0; e < S::kElements; ++e) own_[e] += by_own_ * chunk_at<Math>(mine, e);
    }
    const Acc alpha = static_cast<Acc>(task_.alpha);
    if (task_.score != Score::additive)
      this->store(kSide.own_gradient, row, own_, alpha, task_.n);
    else if (lane_ == 0 && slice_ == 0)  // a single number, written by one lane
      write_number<Dense>(this->row_of(kSide.own_gradient, row), 0, task_.wide, alpha * own_[0]);
    if constexpr (kSumsValues) this->store(kSide.values_gradient, row, values_, Acc{1}, task_.m);
  }

  __device__ void reset() {
    by_own_ = 0;
#pragma unroll
    for (int e = 0; e < S::kElements; ++e) own_[e] = 0;
    if constexpr (kSumsValues)
#pragma unroll
      for (int e = 0; e < S::kElements; ++e) values_[e] = 0;
  }

  __device__ void leave(Acc* to) const {
    __stcg(to, by_own_);
#pragma unroll
    for (int e = 0; e < S::kElements; ++e) {
      __stcg(to + 1 + e, own_[e]);
      if constexpr (kSumsValues) __stcg(to + 1 + S::kElements + e, values_[e]);
    }
  }

  __device__ void merge(const Acc* from) {
    by_own_ += __ldcg(from);
#pragma unroll
    for (int e = 0; e < S::kElements; ++e) {
      own_[e] += __ldcg(from + 1 + e);
      if constexpr (kSumsValues) values_[e] += __ldcg(from + 1 + S::kElements + e);
    }
  }

  Acc by_own_;
  Acc own_[S::kElements], values_[kSumsValues ? S::kElements : 1];
};

}  // namespace sptile::runtime::cuda
