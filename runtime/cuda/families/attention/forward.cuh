// Attention of the entries of rows: scores, online softmax, and weighted rows of V in one pass. When the
// maximum increases, the sums are rescaled.
#pragma once

#include "runtime/cuda/families/attention/group.cuh"

namespace sptile::runtime::cuda {

template <class S>
class AttentionForward : public AttentionGroup<S, AttentionForward<S>> {
  using Base = AttentionGroup<S, AttentionForward<S>>;
  friend Base;
  using Base::Base, Base::task_, Base::shared_, Base::lane_, Base::slice_;
  using typename Base::Acc;
  using typename Base::Chunk;
  using typename Base::Math;
  template <bool kOneRow>
  using Entries = typename Base::template Entries<kOneRow>;
  template <bool kOneRow>
  using Pairs = typename Base::template Pairs<kOneRow>;

 public:
  static constexpr int kLanes = S::kLanes;
  static constexpr int kPartial = S::kElements + 2;

 private:
  __device__ void prepare(const CsrWork& work) {
    if (task_.score != Score::cosine) return;
    const int most = Base::most_rows(work);
    for (int r = 0; r < most; ++r) {
      const Acc square = this->own_product(work, r, kAttentionX, kAttentionX, task_.n);
      if (lane_ == 0 && r < work.rows) shared_.numbers[r].square = square;
    }
  }

  template <bool kOneRow>
  __device__ __forceinline__ void batch(const CsrWork& work, int done, int j) {
    const Entries<kOneRow> these = this->template entries<kOneRow>(work, done, j);
    constexpr int kCount = these.kCount;
    auto products = this->products_beside(these, kAttentionX, kAttentionY, task_.n);
    Pairs<kOneRow> pairs = {};
    const int kept = this->kept_slice(task_.n);
    if (task_.score != Score::additive) this->load(pairs, these, kAttentionX, kAttentionY, kept, task_.n);
    Chunk value[kCount];
#pragma unroll
    for (int u = 0; u < kCount; ++u) {
      if (task_.tied)
        value[u] = pairs.other[u];
      else
        this->load(value[u], kAttentionV, these.column[u], slice_, task_.m, these.there[u]);
    }
    DeviceScore<Acc> parts[kCount];
    Acc scores[kCount];
    this->score(products, pairs, these, j, kAttentionX, kAttentionY, parts, scores);
    if constexpr (kOneRow) {
      Acc largest = scores[0];
#pragma unroll
      for (int u = 1; u < kCount; ++u) largest = scores[u] > largest ? scores[u] : largest;
      raise(largest);
    }
#pragma unroll
    for (int u = 0; u < kCount; ++u) {
      if constexpr (!kOneRow) raise(scores[u]);
      add(scores[u], value[u]);
      if constexpr (!kOneRow) this->end_rows(work, done + u + 1);
    }
  }

  /// Raises the maximum to at least `score` and rescales the sums.
  __device__ __forceinline__ void raise(Acc score) {
    if (!(score > maximum_)) return;
    scale(exponential(maximum_ - shift_of(score)));
    maximum_ = score;
  }
  __device__ __forceinline__ void scale(Acc by) {
    sum_ *= by;
#pragma unroll
    for (int e = 0; e < S::kElements; ++e) out_[e] *= by;
  }

  __device__ __forceinline__ void add(Acc score, const Chunk& value) {
    const Acc weight = exponential(score - shift_of(maximum_));
    sum_ += weight;
#pragma unroll
    for (int e = 0; e < S::kElements; ++e) out_[e] += weight * chunk_at<Math>(value, e);
  }

  __device__ void write(std::int64_t row, int /*number*/) const {
    const Acc inverse = inverse_of(sum_);
    this->store(kAttentionOut, row, out_, inverse, task_.m);
    if (lane_ != 0 || slice_ != 0 || !this->has(kAttentionStatistics)) return;
    this->set_statistic(kAttentionStatistics, row, kMaximum, shift_of(maximum_));
    this->set_statistic(kAttentionStatistics, row, kInverseSum, inverse);
  }

  __device__ void reset() {
    maximum_ = masked<Acc>();
    sum_ = 0;
#pragma unroll
    for (int e = 0; e < S::kElements; ++e) out_[e] = 0;
  }

  __device__ void leave(Acc* to) const {
    __stcg(to, maximum_);
    __stcg(to + 1, sum_);
#pragma unroll
    for (int e = 0; e < S::kElements; ++e) __stcg(to + 2 + e, out_[e]);
  }

  __device__ void merge(const Acc* from) {
    const Acc maximum = __ldcg(from);
    raise(maximum);
    const Acc by = exponential(maximum - shift_of(maximum_));
    // A sum without a maximum may still be NaN.
    const Acc weight = maximum == masked<Acc>() ? Acc{1} : by;
    sum_ += weight * __ldcg(from + 1);
#pragma unroll
    for (int e = 0; e < S::kElements; ++e) out_[e] += weight * __ldcg(from + 2 + e);
  }

  Acc maximum_, sum_;
  Acc out_[S::kElements];
};

}  // namespace sptile::runtime::cuda
