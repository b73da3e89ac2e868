// GATv2 attention and its gradients over the rows of csr. The score of a pair of rows is a . leaky_relu(z)
// with z = x + y + e, whose sum over the columns is reduced across the group. The rows of an entry are loaded
// once for its score and for the sums.
//
// Runs are plain (kPlain) without features, factors and results per entry if rows fit in one slice. They need
// none of the branches of the others.
//
// If groups project (kProjects), e = W f: W of a slice stays in shared memory while a group processes items
// of one head, and e is formed in registers.
#pragma once

#include <type_traits>

#include "runtime/core/gatv2_operands.hpp"
#include "runtime/cuda/families/attention/group.cuh"

namespace sptile::runtime::cuda {

/// Groups of lanes that score pairs of rows. A slice of columns is kept in registers; the others are only
/// scored.
template <class S, class Derived, bool kProjects = false>
class Gatv2Group : public AttentionGroup<S, Derived> {
  using Base = AttentionGroup<S, Derived>;

 protected:
  using Base::Base, Base::task_, Base::lane_, Base::slice_;
  using typename Base::Acc;
  using typename Base::Chunk;
  using typename Base::Dense;
  using typename Base::Math;
  template <bool kOneRow>
  using Entries = typename Base::template Entries<kOneRow>;
  template <bool kOneRow>
  using Pairs = typename Base::template Pairs<kOneRow>;
  static constexpr int kElements = S::kElements;
  static constexpr int kStep = 16 / sizeof(Acc);  ///< features that are loaded together

  struct FeaturesShared : Base::Shared {
    Vec<std::uint32_t, 4> w[kMostFeatures][S::kLanes];  ///< a chunk of a row of W^T for each lane
    Vec<Acc, kStep> features[S::kUnroll][kMostFeatures / kStep];
  };
  /// The lane's part of e.
  struct Projected {
    Acc e[kElements];
  };
  using Edge = std::conditional_t<kProjects, Projected, Chunk>;

 public:
  using Shared = std::conditional_t<kProjects, FeaturesShared, typename Base::Shared>;

  /// Loads W, for all items of the group's head and slice.
  __device__ void begin(int w) const {
    static_assert(sizeof(Chunk) == 16);
    auto* const to = reinterpret_cast<Dense*>(&shared().w[0][0]);
    for (int i = lane_; i < kMostFeatures * S::kColumns; i += S::kLanes) {
      const int f = i % kMostFeatures, c = i / kMostFeatures;
      const std::int64_t row = std::int64_t{slice_} * S::kColumns + c;
      to[f * S::kColumns + c] =
          f < task_.m && row < task_.n ? load_number<Dense>(this->row_of(w, row), f) : Dense{};
    }
    __syncwarp();
  }

 protected:
  __device__ Shared& shared() const { return static_cast<Shared&>(this->shared_); }

  /// Loads the features of the first `left` of kCount entries. All lanes of the warp must call it.
  template <int kCount>
  __device__ __forceinline__ void load_features(int operand, std::int64_t entry, int left) const {
    constexpr int kPerLane = kCount * kMostFeatures / S::kLanes;
    static_assert(kPerLane * S::kLanes == kCount * kMostFeatures);
    Acc numbers[kPerLane];
#pragma unroll
    for (int i = 0; i < kPerLane; ++i) {
      const int at = lane_ + i * S::kLanes, u = at / kMostFeatures, f = at % kMostFeatures;
      numbers[i] = u < left && f < task_.m ? number_at<Dense>(this->row_of(operand, entry + u), f) : Acc{0};
    }
    __syncwarp();  // the previous features have been used
#pragma unroll
    for (int i = 0; i < kPerLane; ++i) {
      const int at = lane_ + i * S::kLanes, f = at % kMostFeatures;
      shared().features[at / kMostFeatures][f / kStep].e[f % kStep] = numbers[i];
    }
    __syncwarp();
  }
  /// Computes W f of the loaded features, in the group's slice.
  template <int kCount>
  __device__ __forceinline__ void project(Projected (&to)[kCount]) const {
#pragma unroll
    for (int u = 0; u < kCount; ++u) to[u] = {};
#pragma unroll 1
    for (int f = 0; f < task_.m; f += kStep) {
      Chunk w[kStep];
#pragma unroll
      for (int s = 0; s < kStep; ++s) {
        const Vec<std::uint32_t, 4> words = shared().w[f + s][lane_];
        __builtin_memcpy(&w[s], &words, sizeof words);
      }
#pragma unroll
      for (int u = 0; u < kCount; ++u) {
        const Vec<Acc, kStep> features = shared().features[u][f / kStep];
#pragma unroll
        for (int s = 0; s < kStep; ++s)
#pragma unroll
          for (int e = 0; e < kElements; ++e) to[u].e[e] += chunk_at<Math>(w[s], e) * features.e[s];
      }
    }
  }
  /// The same in another slice, whose W is not in shared memory.
  template <int kCount>
  __device__ __forceinline__ void project(Projected (&to)[kCount], int w, int slice) const {
#pragma unroll
    for (int u = 0; u < kCount; ++u) to[u] = {};
#pragma unroll
    for (int e = 0; e < kElements; ++e) {
      if (e >= this->left(slice, task_.n)) continue;
      const std::byte* const row = this->row_of(w, this->first_column(slice) + e);
      for (int f = 0; f < task_.m; ++f)
#pragma unroll
        for (int u = 0; u < kCount; ++u)
          to[u].e[e] += number_at<Dense>(row, f) * shared().features[u][f / kStep].e[f % kStep];
    }
  }

  /// Returns whether the rows of entry u are loaded. Batches of one row have all entries, except in groups
  /// that have none left: these load row 0 and drop the sums. Lists and features are loaded of existing
  /// entries only.
  template <bool kOneRow>
  __device__ __forceinline__ static bool loads(const Entries<kOneRow>& these, int u) {
    return kOneRow || these.there[u];
  }
  __device__ __forceinline__ Chunk part_of(int operand, std::int64_t row, int slice, bool there) const {
    Chunk chunk;
    this->load(chunk, operand, row, slice, task_.n, there);
    return chunk;
  }
  template <bool kOneRow>
  __device__ __forceinline__ Pairs<kOneRow> pairs_of(const Entries<kOneRow>& these, int own, int other,
                                                     int slice) const {
    Pairs<kOneRow> pairs;
#pragma unroll
    for (int u = 0; u < these.kCount; ++u)
      pairs.other[u] = part_of(other, these.column[u], slice, loads<kOneRow>(these, u));
#pragma unroll
    for (int u = 0; u < these.kRows; ++u)
      pairs.own[u] = part_of(own, these.row[u], slice, loads<kOneRow>(these, u));
    return pairs;
  }

  /// Returns leaky_relu'(z).
  __device__ __forceinline__ Acc derivative(Acc z) const {
    return z > Acc{0} ? Acc{1} : static_cast<Acc>(task_.slope);
  }
  __device__ __forceinline__ static Acc edge_at(const Edge& edge, int e) {
    if constexpr (kProjects)
      return edge.e[e];
    else
      return chunk_at<Math>(edge, e);
  }
  template <bool kPlain = false>
  __device__ __forceinline__ static Acc z_of(const Chunk& own, const Chunk& other, const Edge& edge, int e) {
    const Acc both = chunk_at<Math>(own, e) + chunk_at<Math>(other, e);
    return kPlain ? both : both + edge_at(edge, e);
  }
  /// Returns the lane's share of a score.
  template <bool kPlain = false>
  __device__ __forceinline__ Acc share(const Chunk& own, const Chunk& other, const Edge& edge,
                                       const Chunk& a) const {
    Acc sum{};
#pragma unroll
    for (int e = 0; e < kElements; ++e) {
      const Acc z = z_of<kPlain>(own, other, edge, e);
      sum += chunk_at<Math>(a, e) * (derivative(z) * z);
    }
    return sum;
  }
  __device__ __forceinline__ Chunk vector(int slice) const { return part_of(kGatv2Vector, 0, slice, true); }
  /// Loads the lane's part of the features of an entry, or zeros if the run has none. kEdges: operand; -1:
  /// none.
  template <int kEdges>
  __device__ __forceinline__ void load_edge(Chunk& to, std::int64_t entry, int slice, bool there) const {
    to = {};
    if constexpr (kEdges >= 0)
      if (this->has(kEdges)) this->load(to, kEdges, entry, slice, task_.n, there);
  }

  /// Returns the factor of an entry.
  __device__ __forceinline__ Acc factor(std::int64_t entry, bool there) const {
    return there && this->has(kGatv2Factors)
               ? number_at<typename Base::Dense>(this->rows_of(kGatv2Factors), entry)
               : Acc{1};
  }

  /// Returns whether the run is plain. `lists`: features, or results per entry.
  __device__ bool is_plain(bool lists) const {
    return task_.slices == 1 && !lists && !this->has(kGatv2Factors);
  }

  /// Adds the shares of the slices that are not kept. Only wide rows have some. left: entries from `entry`
  /// on.
  template <int kEdges, bool kOneRow>
  __device__ __forceinline__ void add_beside(Acc (&sums)[Entries<kOneRow>::kCount],
                                             const Entries<kOneRow>& these, std::int64_t entry, int left,
                                             int own, int other) const {
    if constexpr (kProjects) {
      if (task_.slices == 1) return;
      load_features<Entries<kOneRow>::kCount>(kEdges, entry, left);
    }
    for (int slice = 0; slice < this->slices_of(task_.n); ++slice) {
      if (slice == slice_) continue;
      const Pairs<kOneRow> pairs = pairs_of<kOneRow>(these, own, other, slice);
      const Chunk a = vector(slice);
      if constexpr (kProjects) {
        Projected edges[Entries<kOneRow>::kCount];
        project(edges, kGatv2W, slice);
#pragma unroll
        for (int u = 0; u < these.kCount; ++u)
          sums[u] += share(pairs.own[these.row_of(u)], pairs.other[u], edges[u], a);
      } else {
#pragma unroll
        for (int u = 0; u < these.kCount; ++u) {
          Chunk edge;
          load_edge<kEdges>(edge, entry + u, slice, these.there[u]);
          sums[u] += share(pairs.own[these.row_of(u)], pairs.other[u], edge, a);
        }
      }
    }
  }
};

template <class S, bool kProjects = false>
class Gatv2Forward : public Gatv2Group<S, Gatv2Forward<S, kProjects>, kProjects> {
  using Base = Gatv2Group<S, Gatv2Forward<S, kProjects>, kProjects>;
  friend AttentionGroup<S, Gatv2Forward<S, kProjects>>;
  using Base::Base, Base::task_, Base::shared_, Base::lane_, Base::slice_, Base::kElements;
  using typename Base::Acc;
  using typename Base::Chunk;
  using typename Base::Math;

 public:
  static constexpr int kLanes = S::kLanes;
  static constexpr int kPartial = SoftmaxState<NaturalExponential, Acc, S::kElements>::kNumbers;

 private:
  __device__ void prepare(const CsrWork& /*work*/) {
    a_ = this->vector(slice_);
    if constexpr (!kProjects) plain_ = this->is_plain(this->has(kGatv2Edges));
  }

  template <bool kOneRow>
  __device__ __forceinline__ void batch(const CsrWork& work, int done, int j) {
    if constexpr (kProjects)
      step<kOneRow, false>(work, done, j);
    else if (plain_)
      step<kOneRow, true>(work, done, j);
    else
      step<kOneRow, false>(work, done, j);
  }

  template <bool kOneRow, bool kPlain>
  __device__ __forceinline__ void step(const CsrWork& work, int done, int j) {
    const auto these = this->template entries<kOneRow>(work, done, j);
    constexpr int kCount = these.kCount;
    const std::int64_t entry = work.first + done;
    Acc scores[kCount] = {};
    if constexpr (!kPlain)
      this->template add_beside<kGatv2Edges, kOneRow>(scores, these, entry, work.entries - done, kAttentionX,
                                                      kAttentionY);
    const auto pairs = this->template pairs_of<kOneRow>(these, kAttentionX, kAttentionY, kPlain ? 0 : slice_);
    if constexpr (kProjects) {
      this->template load_features<kCount>(kGatv2Edges, entry, work.entries - done);
      typename Base::Projected edges[kCount];
      this->project(edges);
#pragma unroll
      for (int u = 0; u < kCount; ++u)
        scores[u] += this->share(pairs.own[these.row_of(u)], pairs.other[u], edges[u], a_);
    } else {
#pragma unroll
      for (int u = 0; u < kCount; ++u) {
        Chunk edge;
        this->template load_edge<kPlain ? -1 : kGatv2Edges>(edge, entry + u, slice_, these.there[u]);
        scores[u] += this->template share<kPlain>(pairs.own[these.row_of(u)], pairs.other[u], edge, a_);
      }
    }
    reduce_each<kLanes>(scores, lane_);
#pragma unroll
    for (int u = 0; u < kCount; ++u)
      scores[u] = (kPlain && kOneRow) || these.there[u]
                      ? static_cast<Acc>(task_.alpha) * scores[u] + shared_.bias[j + u]
                      : masked<Acc>();
    if constexpr (kOneRow) {
      Acc largest = scores[0];
#pragma unroll
      for (int u = 1; u < kCount; ++u) largest = scores[u] > largest ? scores[u] : largest;
      raise(largest);
    }
#pragma unroll
    for (int u = 0; u < kCount; ++u) {
      if constexpr (!kOneRow) raise(scores[u]);
      const Acc weight = state_.weight_of(scores[u]);
      const Acc weighed = kPlain ? weight : weight * this->factor(entry + u, these.there[u]);
      state_.sum += weight;
#pragma unroll
      for (int e = 0; e < kElements; ++e) state_.out[e] += weighed * chunk_at<Math>(pairs.other[u], e);
      if constexpr (!kOneRow) this->end_rows(work, done + u + 1);
    }
  }

  /// Raises the maximum to at least `score` and rescales the sums.
  __device__ __forceinline__ void raise(Acc score) {
    if (score > state_.maximum) state_.rescale(score);
  }

  __device__ void write(std::int64_t row, int /*number*/) const {
    const Acc inverse = inverse_of(state_.sum);
    this->store(kProjects ? kGatv2EdgesOut : kGatv2Out, row, state_.out, inverse, task_.n);
    if (lane_ != 0 || slice_ != 0 || !this->has(kAttentionStatistics)) return;
    this->set_statistic(kAttentionStatistics, row, kMaximum, shift_of(state_.maximum));
    this->set_statistic(kAttentionStatistics, row, kInverseSum, inverse);
  }

  __device__ void reset() { state_.reset(); }
  __device__ void leave(Acc* to) const { state_.template store<1>(to); }
  __device__ void merge(const Acc* from) { state_.template merge<1>(from); }

  Chunk a_;
  bool plain_ = false;
  SoftmaxState<NaturalExponential, Acc, S::kElements> state_;
};

template <class S, const Gatv2Side& kSide>
class Gatv2Backward : public Gatv2Group<S, Gatv2Backward<S, kSide>, kSide.projects> {
  using Base = Gatv2Group<S, Gatv2Backward<S, kSide>, kSide.projects>;
  friend AttentionGroup<S, Gatv2Backward<S, kSide>>;
  using Base::Base, Base::task_, Base::shared_, Base::lane_, Base::slice_, Base::kElements;
  using typename Base::Acc;
  using typename Base::Chunk;
  using typename Base::Math;
  template <bool kOneRow>
  using Entries = typename Base::template Entries<kOneRow>;
  template <bool kOneRow>
  using Pairs = typename Base::template Pairs<kOneRow>;
  static constexpr bool kOfRows = !kSide.of_columns, kProjects = kSide.projects;
  static constexpr int kEdges = kSide.with_edges() ? kGatv2Edges : -1;
  using typename Base::Edge;

 public:
  static constexpr int kLanes = S::kLanes;
  static constexpr int kPartial = (kOfRows ? 2 : 1) * S::kElements;

 private:
  __device__ void prepare(const CsrWork& work) {
    a_ = this->vector(slice_);
    if constexpr (!kProjects)
      plain_ = this->is_plain(
          kOfRows && (this->has(kGatv2Edges) || this->has(kGatv2Weights) || this->has(kGatv2EdgesGradient)));
    if constexpr (kOfRows) {
      const int most = Base::most_rows(work);
      for (int r = 0; r < most; ++r) {
        const Acc delta = this->own_product(work, r, kSide.out, kSide.dout, task_.n);
        if (lane_ == 0 && r < work.rows) find_statistics(work, r, delta);
      }
    }
  }

  __device__ void find_statistics(const CsrWork& work, int r, Acc delta) const {
    const std::int64_t row = shared_.ends[r].row;
    shared_.numbers[r] = numbers_at(row, delta);
    const bool first =
        !work.piece || task_.splits[task_.pieces[this->item_].split].first_piece == this->item_;
    if (slice_ == 0 && first) this->set_statistic(kSide.delta, row, 0, delta);
  }
  __device__ __forceinline__ RowNumbers<Acc> numbers_at(std::int64_t row, Acc delta) const {
    return {.maximum = this->statistic(kAttentionStatistics, row, kMaximum),
            .inverse = this->statistic(kAttentionStatistics, row, kInverseSum),
            .delta = delta};
  }
  /// Returns the numbers of entry u's row, from its statistics.
  template <bool kOneRow>
  __device__ __forceinline__ RowNumbers<Acc> numbers_of(const Entries<kOneRow>& these, int u) const {
    if constexpr (kOfRows) return shared_.numbers[these.number[these.row_of(u)]];
    if (!this->template loads<kOneRow>(these, u)) return {};
    return numbers_at(these.column[u], this->statistic(kSide.delta, these.column[u], 0));
  }

  /// Rows of dout: one of each entry, or of each row.
  template <bool kOneRow>
  struct Upstream {
    static constexpr int kRows = kOfRows ? Entries<kOneRow>::kRows : Entries<kOneRow>::kCount;
    Chunk g[kRows];
    [[nodiscard]] __device__ __forceinline__ const Chunk& of(int u) const { return g[kRows == 1 ? 0 : u]; }
  };
  template <bool kOneRow>
  __device__ __forceinline__ Upstream<kOneRow> upstream(const Entries<kOneRow>& these, int slice) const {
    Upstream<kOneRow> rows;
#pragma unroll
    for (int u = 0; u < rows.kRows; ++u)
      rows.g[u] = this->part_of(kSide.dout, kOfRows ? these.row[u] : these.column[u], slice,
                                this->template loads<kOneRow>(these, u));
    return rows;
  }
  /// Adds the lane's shares of dout . y in a slice. Y is `other` of rows, `own` of columns.
  template <bool kOneRow>
  __device__ __forceinline__ void add_products(Acc (&dp)[Entries<kOneRow>::kCount],
                                               const Pairs<kOneRow>& pairs,
                                               const Upstream<kOneRow>& rows) const {
#pragma unroll
    for (int u = 0; u < Entries<kOneRow>::kCount; ++u)
      dp[u] += dot<Math>(kOfRows ? pairs.other[u] : pairs.own[Entries<kOneRow>::row_of(u)], rows.of(u));
  }

  template <bool kOneRow>
  __device__ __forceinline__ void batch(const CsrWork& work, int done, int j) {
    if constexpr (kProjects)
      step<kOneRow, false>(work, done, j);
    else if (plain_)
      step<kOneRow, true>(work, done, j);
    else
      step<kOneRow, false>(work, done, j);
  }

  /// Adds the lane's shares of the scores and of dout . y in the slices that are not kept.
  template <bool kOneRow>
  __device__ __forceinline__ void add_slices(Acc (&scores)[Entries<kOneRow>::kCount],
                                             Acc (&dp)[Entries<kOneRow>::kCount],
                                             const Entries<kOneRow>& these, std::int64_t entry,
                                             int left) const {
    this->template add_beside<kEdges, kOneRow>(scores, these, entry, left, kSide.own, kSide.other);
    for (int slice = 0; slice < this->slices_of(task_.n); ++slice) {
      if (slice == slice_) continue;
      const Pairs<kOneRow> pairs = this->template pairs_of<kOneRow>(these, kSide.own, kSide.other, slice);
      add_products<kOneRow>(dp, pairs, upstream<kOneRow>(these, slice));
    }
  }

  template <bool kOneRow, bool kPlain>
  __device__ __forceinline__ void step(const CsrWork& work, int done, int j) {
    const auto these = this->template entries<kOneRow>(work, done, j);
    constexpr int kCount = these.kCount;
    constexpr bool kWithEdges = kEdges >= 0 && !kPlain;
    const std::int64_t entry = work.first + done;
    const int kept = kPlain ? 0 : slice_;
    Acc scores[kCount] = {}, dp[kCount] = {};
    if constexpr (!kPlain) add_slices<kOneRow>(scores, dp, these, entry, work.entries - done);
    const Pairs<kOneRow> pairs = this->template pairs_of<kOneRow>(these, kSide.own, kSide.other, kept);
    const Upstream<kOneRow> rows = upstream<kOneRow>(these, kept);
    Edge edge[kWithEdges ? kCount : 1] = {};
    if constexpr (kProjects) {
      this->template load_features<kCount>(kEdges, entry, work.entries - done);
      this->project(edge);
    } else if constexpr (kWithEdges) {
#pragma unroll
      for (int u = 0; u < kCount; ++u)
        this->template load_edge<kEdges>(edge[u], entry + u, slice_, these.there[u]);
    }
    RowNumbers<Acc> numbers[kCount];
#pragma unroll
    for (int u = 0; u < kCount; ++u) {
      numbers[u] = numbers_of<kOneRow>(these, u);
      scores[u] += this->template share<!kWithEdges>(pairs.own[these.row_of(u)], pairs.other[u],
                                                     edge[kWithEdges ? u : 0], a_);
    }
    add_products<kOneRow>(dp, pairs, rows);
    this->reduce_both(scores, dp);
    const Acc alpha = static_cast<Acc>(task_.alpha);
#pragma unroll
    for (int u = 0; u < kCount; ++u) {
      const Acc score =
          (kPlain && kOneRow) || these.there[u] ? alpha * scores[u] + shared_.bias[j + u] : masked<Acc>();
      const Acc p = NaturalExponential::of(score - numbers[u].maximum) * numbers[u].inverse;
      const Acc f = kPlain ? Acc{1} : this->factor(entry + u, these.there[u]);
      const Acc ds = alpha * p * (f * dp[u] - numbers[u].delta);
      add<!kWithEdges>(p * f, ds, pairs.own[these.row_of(u)], pairs.other[u], edge[kWithEdges ? u : 0],
                       rows.of(u));
      if constexpr (kProjects && kOfRows) {
        if (these.there[u] && lane_ == 0 && slice_ == 0)
          reinterpret_cast<Acc*>(this->rows_of(kGatv2EdgesDs))[entry + u] = ds;
      } else if constexpr (kOfRows && !kPlain) {
        if (these.there[u])
          write_entry(entry + u, p * f, ds, pairs.own[these.row_of(u)], pairs.other[u], edge[u]);
      }
      if constexpr (!kOneRow) this->end_rows(work, done + u + 1);
    }
  }

  /// Adds an entry. The sums of rows lack the factor a.
  template <bool kPlain>
  __device__ __forceinline__ void add(Acc weight, Acc ds, const Chunk& own, const Chunk& other,
                                      const Edge& edge, const Chunk& g) {
#pragma unroll
    for (int e = 0; e < kElements; ++e) {
      const Acc z = this->template z_of<kPlain>(own, other, edge, e), by = ds * this->derivative(z);
      if constexpr (kOfRows) {
        own_[e] += by;
        by_a_[e] += by * z;
      } else {
        own_[e] += by * chunk_at<Math>(a_, e) + weight * chunk_at<Math>(g, e);
      }
    }
  }

  /// Writes an entry's weight, and the gradient of its features.
  __device__ __forceinline__ void write_entry(std::int64_t entry, Acc weight, Acc ds, const Chunk& own,
                                              const Chunk& other, const Chunk& edge) const {
    if (lane_ == 0 && slice_ == 0 && this->has(kGatv2Weights))
      write_number<typename Base::Dense>(this->rows_of(kGatv2Weights), entry, task_.wide, weight);
    if (!this->has(kGatv2EdgesGradient)) return;
    Acc gradient[kElements];
#pragma unroll
    for (int e = 0; e < kElements; ++e)
      gradient[e] = ds * this->derivative(this->z_of(own, other, edge, e)) * chunk_at<Math>(a_, e);
    this->store(kGatv2EdgesGradient, entry, gradient, Acc{1}, task_.n);
  }

  __device__ void write(std::int64_t row, int /*number*/) {
    if constexpr (kOfRows) {
      auto* const to = reinterpret_cast<Acc*>(this->row_of(kGatv2VectorGradient, row));
      store_piece<S::kVector>(to + this->first_column(slice_), by_a_, Scale<Acc>{Acc{1}, Acc{0}},
                              this->left(slice_, task_.n));
#pragma unroll
      for (int e = 0; e < kElements; ++e) own_[e] *= chunk_at<Math>(a_, e);
    }
    this->store(kSide.gradient, row, own_, Acc{1}, task_.n);
  }

  __device__ void reset() {
#pragma unroll
    for (int e = 0; e < kElements; ++e) {
      own_[e] = 0;
      if constexpr (kOfRows) by_a_[e] = 0;
    }
  }
  __device__ void leave(Acc* to) const {
#pragma unroll
    for (int e = 0; e < kElements; ++e) {
      __stcg(to + e, own_[e]);
      if constexpr (kOfRows) __stcg(to + kElements + e, by_a_[e]);
    }
  }
  __device__ void merge(const Acc* from) {
#pragma unroll
    for (int e = 0; e < kElements; ++e) {
      own_[e] += __ldcg(from + e);
      if constexpr (kOfRows) by_a_[e] += __ldcg(from + kElements + e);
    }
  }

  Chunk a_;
  bool plain_ = false;
  Acc own_[S::kElements], by_a_[kOfRows ? S::kElements : 1];
};

}  // namespace sptile::runtime::cuda
