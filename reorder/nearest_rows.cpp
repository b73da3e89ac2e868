#include "reorder/nearest_rows.hpp"

#include <tbb/blocked_range.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "formats/csr.hpp"

namespace sptile::reorder {
namespace {

using formats::CsrView;

/// More candidates than are kept survive the estimate, so that the full comparison has a choice.
constexpr int kShortlistFactor = 2;

/// A row so many times longer than another is not read as a whole to compare the two.
constexpr std::size_t kLongRowFactor = 8;

/// What one thread needs; every array is all zero between rows.
struct Scratch {
  Scratch(std::int64_t rows, std::int64_t cols)
      : common(static_cast<std::size_t>(rows)),
        met(static_cast<std::size_t>(rows) + 1),
        marked(static_cast<std::size_t>(cols)) {}

  std::vector<float> common;      // by row: weight of the columns shared so far
  std::vector<std::int32_t> met;  // rows with common > 0, and one slot to write past the end
  std::vector<float> marked;      // by column: its weight where the asking row has it
  std::vector<Neighbour> best;    // most similar first
};

bool before(const Neighbour& x, const Neighbour& y) {
  return x.similarity > y.similarity || (x.similarity == y.similarity && x.row < y.row);
}

/// Keeps the first `most` in the order of before().
void keep_best(std::vector<Neighbour>& best, std::size_t most, Neighbour candidate) {
  if (best.size() == most) {
    if (!before(candidate, best.back())) return;
    best.pop_back();
  }
  best.push_back(candidate);
  for (std::size_t i = best.size() - 1; i > 0 && before(candidate, best[i - 1]); --i)
    std::swap(best[i], best[i - 1]);
}

class Search {
 public:
  Search(const CsrView& a, const JaccardWeights& weights, const NearestOptions& options)
      : a_(a),
        weights_(weights),
        options_(options),
        lists_(formats::transpose({a.rows, a.cols, a.row_ptr, a.col_idx, {}})) {}

  /// Leaves the nearest rows of r in scratch.best.
  void find(std::int64_t r, Scratch& scratch) const {
    scratch.best.clear();
    bool exact = true;
    const std::int64_t met = meet(r, scratch, exact);
    const auto kept = static_cast<std::size_t>(options_.neighbours);
    const std::size_t most = exact ? kept : kept * kShortlistFactor;
    for (std::int64_t i = 0; i < met; ++i) {
      const std::int32_t u = scratch.met[static_cast<std::size_t>(i)];
      float& common = scratch.common[static_cast<std::size_t>(u)];
      if (u != r) keep_best(scratch.best, most, {u, weights_.similarity(r, u, common)});
      common = 0;
    }
    if (!exact) compare_in_full(r, scratch, kept);
  }

 private:
  /// Adds up what the rows met share with r; gives their number. Clears `exact` when a cap was at work.
  std::int64_t meet(std::int64_t r, Scratch& scratch, bool& exact) const {
    Reach reach = choose_columns(r, exact);
    std::int64_t met = 0;
    for (const std::int32_t c : columns_of(a_, r)) {
      const int level = level_of(c);
      if (level > reach.level || (level == reach.level && reach.left <= 0)) continue;
      const std::span<const std::int32_t> list = part_of_list(c, r);
      if (level == reach.level) reach.left -= static_cast<std::int64_t>(list.size());
      exact = exact && static_cast<std::int32_t>(list.size()) == entries(c);
      const float weight = weights_.column[static_cast<std::size_t>(c)];
      for (const std::int32_t u : list) {
        float& common = scratch.common[static_cast<std::size_t>(u)];
        scratch.met[static_cast<std::size_t>(met)] = u;  // kept only when u is new: no branch to mispredict
        met += common == 0;
        common += weight;
      }
    }
    return met;
  }

  /// Columns below `level` are all taken, those of it as far as the visits that are left for them last.
  struct Reach {
    int level;
    std::int64_t left;
  };

  /// Finds how frequent the columns may be for the visits to last. Rows meet through the same columns this
  /// way: a rare column of one is a rare column of the other.
  Reach choose_columns(std::int64_t r, bool& exact) const {
    std::array<std::int64_t, 33> visits{};
    for (const std::int32_t c : columns_of(a_, r))
      visits[static_cast<std::size_t>(level_of(c))] += visited(c);
    std::int64_t sum = 0;
    for (int level = 0; level < 33; ++level) {
      const std::int64_t next = sum + visits[static_cast<std::size_t>(level)];
      if (next > options_.visits) {
        exact = false;
        return {level, options_.visits - sum};
      }
      sum = next;
    }
    return {33, 0};
  }

  std::int32_t entries(std::int32_t c) const { return weights_.entries[static_cast<std::size_t>(c)]; }
  int level_of(std::int32_t c) const { return std::bit_width(static_cast<std::uint32_t>(entries(c))); }
  std::int32_t visited(std::int32_t c) const { return std::min(entries(c), options_.list_rows); }

  std::span<const std::int32_t> part_of_list(std::int32_t c, std::int64_t r) const {
    const std::int32_t* const first = lists_.col_idx.data() + lists_.row_ptr[c];
    const std::int64_t length = entries(c), part = visited(c);
    if (part == length) return {first, static_cast<std::size_t>(length)};
    const std::int64_t own = std::lower_bound(first, first + length, r) - first;
    const std::int64_t start = std::clamp<std::int64_t>(own - part / 2, 0, length - part);
    return {first + start, static_cast<std::size_t>(part)};
  }

  /// Replaces the estimates of the shortlist by true similarities.
  void compare_in_full(std::int64_t r, Scratch& scratch, std::size_t kept) const {
    for (const std::int32_t c : columns_of(a_, r))
      scratch.marked[static_cast<std::size_t>(c)] = weights_.column[static_cast<std::size_t>(c)];
    for (Neighbour& n : scratch.best) {
      n.similarity = weights_.similarity(r, n.row, common_weight(r, n.row, scratch));
    }
    for (const std::int32_t c : columns_of(a_, r)) scratch.marked[static_cast<std::size_t>(c)] = 0;
    std::sort(scratch.best.begin(), scratch.best.end(), before);
    scratch.best.resize(std::min(kept, scratch.best.size()));
  }

  /// Sums over the marked columns of u; a row much longer than r is searched instead, so that dense rows
  /// cost no more than r does.
  float common_weight(std::int64_t r, std::int64_t u, const Scratch& scratch) const {
    const auto own = columns_of(a_, r), other = columns_of(a_, u);
    float common = 0;
    if (other.size() / kLongRowFactor <= own.size()) {
      for (const std::int32_t c : other) common += scratch.marked[static_cast<std::size_t>(c)];
    } else {
      for (const std::int32_t c : own)
        if (std::ranges::binary_search(other, c)) common += weights_.column[static_cast<std::size_t>(c)];
    }
    return common;
  }

  const CsrView& a_;
  const JaccardWeights& weights_;
  const NearestOptions& options_;
  const formats::Csr lists_;  // row c: the rows that have column c, ascending
};

}  // namespace

Result<NearestRows> nearest_rows(const CsrView& a, const JaccardWeights& weights,
                                 const NearestOptions& options) {
  NearestRows nearest{options.neighbours, formats::Buffer<Neighbour>(a.rows * options.neighbours),
                      formats::Buffer<std::int32_t>(a.rows)};
  const Search search(a, weights, options);
  begin(options.progress, "nearest rows", a.rows);
  tbb::enumerable_thread_specific<Scratch> scratches([&] { return Scratch(a.rows, a.cols); });
  tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, a.rows, 256), [&](const auto& range) {
    if (cancelled(options.progress)) return;
    Scratch& scratch = scratches.local();
    for (std::int64_t r = range.begin(); r < range.end(); ++r) {
      search.find(r, scratch);
      std::ranges::copy(scratch.best, nearest.all.data() + r * options.neighbours);
      nearest.met[r] = static_cast<std::int32_t>(scratch.best.size());
    }
    advance(options.progress, range.end() - range.begin());
  });
  if (cancelled(options.progress)) return fail(Errc::io, "cancelled");
  return nearest;
}

}  // namespace sptile::reorder
