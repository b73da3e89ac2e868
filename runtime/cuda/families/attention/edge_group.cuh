// Attention with edge features, and its gradient, over the rows of csr. The score of an entry is the sum of
// two dot products: of rows of X and Y, with n columns, and of rows of X_edges and edges, with m. Both are
// reduced across the group as one number. The rows of an entry are loaded once for its score and for the
// sums.
#pragma once

#include "runtime/core/edge_attention_operands.hpp"
#include "runtime/cuda/families/attention/group.cuh"

namespace sptile::runtime::cuda {

/// Groups of lanes that process entries with a row of edges. A slice of columns is kept in registers; of the
/// others, only products are computed.
template <class S, class Derived>
class EdgeGroup : public AttentionGroup<S, Derived> {
  using Base = AttentionGroup<S, Derived>;

 protected:
  using Base::Base, Base::task_, Base::shared_, Base::slice_, Base::row_;
  using typename Base::Acc;
  using typename Base::Chunk;
  using typename Base::Math;
  template <bool kOneRow>
  using Entries = typename Base::template Entries<kOneRow>;

  /// Rows of some entries: of Y or V, or of edges.
  template <bool kOneRow>
  struct Rows {
    Chunk of[Entries<kOneRow>::kCount];
  };
  /// A row of A: one of X or of dout, and one of X_edges or of dout_edges.
  struct Own {
    Chunk nodes, edges;
  };
  template <bool kOneRow>
  struct OwnRows {
    Own of[Entries<kOneRow>::kRows];
  };
  /// Operands with such rows.
  struct OwnOperands {
    int nodes, edges;
  };

  /// Returns whether the rows of entry u are loaded. Batches of one row have all entries, except in groups
  /// that have none left: these load the rows of an earlier entry and drop the sums.
  template <bool kOneRow>
  __device__ __forceinline__ static bool loads(const Entries<kOneRow>& these, int u) {
    return kOneRow || these.there[u];
  }

  template <bool kOneRow>
  __device__ __forceinline__ Rows<kOneRow> others(const Entries<kOneRow>& these, int operand,
                                                  int slice) const {
    Rows<kOneRow> rows;
#pragma unroll
    for (int u = 0; u < these.kCount; ++u)
      this->load(rows.of[u], operand, these.column[u], slice, task_.n, loads<kOneRow>(these, u));
    return rows;
  }
  /// Returns the rows of edges from an entry on, of existing entries only.
  template <bool kOneRow>
  __device__ __forceinline__ Rows<kOneRow> edges(const Entries<kOneRow>& these, std::int64_t entry,
                                                 int slice) const {
    Rows<kOneRow> rows;
#pragma unroll
    for (int u = 0; u < these.kCount; ++u)
      this->load(rows.of[u], kEdges, entry + u, slice, task_.m, these.there[u]);
    return rows;
  }
  template <bool kOneRow>
  __device__ __forceinline__ OwnRows<kOneRow> own_rows(const Entries<kOneRow>& these, OwnOperands from,
                                                       int slice) const {
    OwnRows<kOneRow> rows;
#pragma unroll
    for (int u = 0; u < these.kRows; ++u) {
      this->load(rows.of[u].nodes, from.nodes, these.row[u], slice, task_.n, loads<kOneRow>(these, u));
      this->load(rows.of[u].edges, from.edges, these.row[u], slice, task_.m, loads<kOneRow>(these, u));
    }
    return rows;
  }
  /// Returns the kept slice. Batches of one row load it once per row into `held`.
  template <bool kOneRow>
  __device__ __forceinline__ OwnRows<kOneRow> kept_rows(const Entries<kOneRow>& these, OwnOperands from,
                                                        Own& held, bool again) const {
    if constexpr (kOneRow) {
      if (again) held = own_rows<kOneRow>(these, from, slice_).of[0];
      return {held};
    } else {
      return own_rows<kOneRow>(these, from, slice_);
    }
  }
  /// Returns whether the current row is not yet held, and holds it from now on.
  template <bool kOneRow>
  __device__ __forceinline__ bool hold() {
    const bool again = kOneRow && held_row_ != row_;
    if (again) held_row_ = row_;
    return again;
  }

  /// Adds the lane's share of the products of entries in a slice.
  template <bool kOneRow>
  __device__ __forceinline__ static void add_products(Acc (&sums)[Entries<kOneRow>::kCount],
                                                      const OwnRows<kOneRow>& own,
                                                      const Rows<kOneRow>& others,
                                                      const Rows<kOneRow>& edges) {
#pragma unroll
    for (int u = 0; u < Entries<kOneRow>::kCount; ++u) {
      const Own& row = own.of[Entries<kOneRow>::row_of(u)];
      sums[u] += dot<Math>(row.nodes, others.of[u]) + dot<Math>(row.edges, edges.of[u]);
    }
  }
  /// Calls f(slice, edges) for the slices that are not kept. Only wide rows have some.
  template <bool kOneRow, class F>
  __device__ __forceinline__ void for_each_beside(const Entries<kOneRow>& these, std::int64_t entry,
                                                  const F& f) const {
#pragma unroll 1
    for (int slice = 0; slice < task_.slices; ++slice)
      if (slice != slice_) f(slice, edges<kOneRow>(these, entry, slice));
  }

  /// Returns the factor of the entry that is staged at `j`.
  __device__ __forceinline__ Acc factor(int j) const {
    return this->has(kEdgeFactors) ? shared_.bias[j] : Acc{1};
  }

  static constexpr OwnOperands kQueries = {kAttentionX, kEdgeQueries};

 private:
  int held_row_ = -1;  ///< index in the run
};

template <class S>
class EdgeForward : public EdgeGroup<S, EdgeForward<S>> {
  using Base = EdgeGroup<S, EdgeForward<S>>;
  friend AttentionGroup<S, EdgeForward<S>>;
  using Base::Base, Base::task_, Base::lane_, Base::slice_;
  using typename Base::Acc;
  using typename Base::Chunk;
  using typename Base::Math;
  static constexpr int kElements = S::kElements;
  /// Sums of a slice of V, then of edges.
  using State = SoftmaxState<NaturalExponential, Acc, 2 * kElements>;

 public:
  static constexpr int kLanes = S::kLanes;
  static constexpr int kPartial = State::kNumbers;

 private:
  __device__ void prepare(const CsrWork& /*work*/) {}

  template <bool kOneRow>
  __device__ __forceinline__ void batch(const CsrWork& work, int done, int j) {
    const auto these = this->template entries<kOneRow>(work, done, j);
    constexpr int kCount = these.kCount;
    const std::int64_t entry = work.first + done;
    Acc scores[kCount] = {};
    this->template for_each_beside<kOneRow>(these, entry, [&](int slice, const auto& edges) {
      Base::template add_products<kOneRow>(scores,
                                           this->template own_rows<kOneRow>(these, Base::kQueries, slice),
                                           this->template others<kOneRow>(these, kAttentionY, slice), edges);
    });
    const auto queries =
        this->template kept_rows<kOneRow>(these, Base::kQueries, queries_, this->template hold<kOneRow>());
    const auto keys = this->template others<kOneRow>(these, kAttentionY, slice_);
    const auto edges = this->template edges<kOneRow>(these, entry, slice_);
    const auto values = this->template others<kOneRow>(these, kAttentionV, slice_);
    Base::template add_products<kOneRow>(scores, queries, keys, edges);
    reduce_each<kLanes>(scores, lane_);
#pragma unroll
    for (int u = 0; u < kCount; ++u)
      scores[u] =
          Base::template loads<kOneRow>(these, u) ? static_cast<Acc>(task_.alpha) * scores[u] : masked<Acc>();
    if constexpr (kOneRow) {
      Acc largest = scores[0];
#pragma unroll
      for (int u = 1; u < kCount; ++u) largest = scores[u] > largest ? scores[u] : largest;
      raise(largest);
    }
#pragma unroll
    for (int u = 0; u < kCount; ++u) {
      if constexpr (!kOneRow) raise(scores[u]);
      const Acc weight = state_.weight_of(scores[u]), kept = weight * this->factor(j + u);
      state_.sum += weight;
#pragma unroll
      for (int e = 0; e < kElements; ++e) {
        state_.out[e] += kept * chunk_at<Math>(values.of[u], e);
        state_.out[kElements + e] += kept * chunk_at<Math>(edges.of[u], e);
      }
      if constexpr (!kOneRow) this->end_rows(work, done + u + 1);
    }
  }

  /// Raises the maximum to at least `score` and rescales the sums.
  __device__ __forceinline__ void raise(Acc score) {
    if (score > state_.maximum) state_.rescale(score);
  }

  __device__ void write(std::int64_t row, int /*number*/) const {
    const Acc inverse = inverse_of(state_.sum);
    Acc values[kElements], edges[kElements];
#pragma unroll
    for (int e = 0; e < kElements; ++e) {
      values[e] = state_.out[e];
      edges[e] = state_.out[kElements + e];
    }
    this->store(kEdgeAttentionOut, row, values, inverse, task_.n);
    this->store(kEdgeOut, row, edges, inverse, task_.m);
    if (lane_ != 0 || slice_ != 0 || !this->has(kAttentionStatistics)) return;
    this->set_statistic(kAttentionStatistics, row, kMaximum, shift_of(state_.maximum));
    this->set_statistic(kAttentionStatistics, row, kInverseSum, inverse);
  }

  __device__ void reset() { state_.reset(); }
  __device__ void leave(Acc* to) const { state_.template store<1>(to); }
  __device__ void merge(const Acc* from) { state_.template merge<1>(from); }

  typename Base::Own queries_;
  State state_;
};

template <class S>
class EdgeBackward : public EdgeGroup<S, EdgeBackward<S>> {
  using Base = EdgeGroup<S, EdgeBackward<S>>;
  friend AttentionGroup<S, EdgeBackward<S>>;
  using Base::Base, Base::task_, Base::shared_, Base::lane_, Base::slice_;
  using typename Base::Acc;
  using typename Base::Chunk;
  using typename Base::Math;
  using typename Base::Own;
  static constexpr int kElements = S::kElements;
  static constexpr typename Base::OwnOperands kUpstream = {kEdgeAttentionDOut, kEdgeDOut};

 public:
  static constexpr int kLanes = S::kLanes;
  static constexpr int kPartial = 2 * kElements;

 private:
  __device__ void prepare(const CsrWork& work) {
    const int most = Base::most_rows(work);
    for (int r = 0; r < most; ++r) {
      const Acc delta = this->own_product(work, r, kEdgeAttentionOut, kEdgeAttentionDOut, task_.n) +
                        this->own_product(work, r, kEdgeOut, kEdgeDOut, task_.m);
      if (lane_ != 0 || r >= work.rows) continue;
      const std::int64_t row = shared_.ends[r].row;
      shared_.numbers[r] = {.maximum = this->statistic(kAttentionStatistics, row, kMaximum),
                            .inverse = this->statistic(kAttentionStatistics, row, kInverseSum),
                            .delta = delta};
    }
  }

  template <bool kOneRow>
  __device__ __forceinline__ void batch(const CsrWork& work, int done, int j) {
    const auto these = this->template entries<kOneRow>(work, done, j);
    constexpr int kCount = these.kCount;
    const std::int64_t entry = work.first + done;
    Acc scores[kCount] = {}, dp[kCount] = {};
    this->template for_each_beside<kOneRow>(these, entry, [&](int slice, const auto& edges) {
      Base::template add_products<kOneRow>(scores,
                                           this->template own_rows<kOneRow>(these, Base::kQueries, slice),
                                           this->template others<kOneRow>(these, kAttentionY, slice), edges);
      Base::template add_products<kOneRow>(dp, this->template own_rows<kOneRow>(these, kUpstream, slice),
                                           this->template others<kOneRow>(these, kAttentionV, slice), edges);
    });
    const bool again = this->template hold<kOneRow>();
    const auto queries = this->template kept_rows<kOneRow>(these, Base::kQueries, queries_, again);
    const auto upstream = this->template kept_rows<kOneRow>(these, kUpstream, upstream_, again);
    const auto keys = this->template others<kOneRow>(these, kAttentionY, slice_);
    const auto edges = this->template edges<kOneRow>(these, entry, slice_);
    {
      const auto values = this->template others<kOneRow>(these, kAttentionV, slice_);
      Base::template add_products<kOneRow>(dp, upstream, values, edges);
    }
    Base::template add_products<kOneRow>(scores, queries, keys, edges);
    this->reduce_both(scores, dp);
#pragma unroll
    for (int u = 0; u < kCount; ++u) {
      const RowNumbers<Acc> numbers = shared_.numbers[these.number[these.row_of(u)]];
      const Acc score =
          Base::template loads<kOneRow>(these, u) ? static_cast<Acc>(task_.alpha) * scores[u] : masked<Acc>();
      const Acc p = NaturalExponential::of(score - numbers.maximum) * numbers.inverse;
      const Acc f = this->factor(j + u), slope = f * dp[u] - numbers.delta, ds = p * slope;
#pragma unroll
      for (int e = 0; e < kElements; ++e) {
        nodes_[e] += ds * chunk_at<Math>(keys.of[u], e);
        edges_[e] += ds * chunk_at<Math>(edges.of[u], e);
      }
      if (these.there[u])
        write_entry(entry + u, p, f, slope, queries.of[these.row_of(u)].edges,
                    upstream.of[these.row_of(u)].edges);
      if constexpr (!kOneRow) this->end_rows(work, done + u + 1);
    }
  }

  __device__ __forceinline__ void write_number_of(int list, std::int64_t entry, Acc x) const {
    if (this->has(list)) write_number<typename Base::Dense>(this->rows_of(list), entry, task_.wide, x);
  }
  /// Writes an entry's weight p * f, the gradient p * slope of its score, and that of its row of edges.
  __device__ __forceinline__ void write_entry(std::int64_t entry, Acc p, Acc f, Acc slope, const Chunk& query,
                                              const Chunk& upstream) const {
    if (lane_ == 0 && slice_ == 0) {
      write_number_of(kEdgeWeights, entry, p * f);
      write_number_of(kEdgeDScores, entry, p * slope);
    }
    if (!this->has(kEdgesGradient)) return;
    const Acc by_query = static_cast<Acc>(task_.alpha) * slope;
    Acc gradient[kElements];
#pragma unroll
    for (int e = 0; e < kElements; ++e)
      gradient[e] = by_query * chunk_at<Math>(query, e) + f * chunk_at<Math>(upstream, e);
    // The sum is multiplied by p, because p times each of its terms may overflow to infinities of both signs.
    this->store(kEdgesGradient, entry, gradient, p, task_.m);
  }

  __device__ void write(std::int64_t row, int /*number*/) const {
    const Acc alpha = static_cast<Acc>(task_.alpha);
    this->store(kEdgeAttentionGradientX, row, nodes_, alpha, task_.n);
    this->store(kEdgeQueriesGradient, row, edges_, alpha, task_.m);
  }

  __device__ void reset() {
#pragma unroll
    for (int e = 0; e < kElements; ++e) nodes_[e] = edges_[e] = 0;
  }
  __device__ void leave(Acc* to) const {
#pragma unroll
    for (int e = 0; e < kElements; ++e) {
      __stcg(to + e, nodes_[e]);
      __stcg(to + kElements + e, edges_[e]);
    }
  }
  __device__ void merge(const Acc* from) {
#pragma unroll
    for (int e = 0; e < kElements; ++e) {
      nodes_[e] += __ldcg(from + e);
      edges_[e] += __ldcg(from + kElements + e);
    }
  }

  Own queries_, upstream_;
  Acc nodes_[kElements], edges_[kElements];
};

}  // namespace sptile::runtime::cuda
