#include "reorder/similarity/nearest_rows.hpp"

#include <tbb/blocked_range.h>

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <utility>
#include <vector>

#include "formats/core/csr.hpp"
#include "formats/core/parallel_loop.hpp"
#include "formats/core/per_thread.hpp"

namespace sptile::reorder {
namespace {

using formats::CsrView;

/// More candidates than the final number survive the estimate, so that the full comparison has a choice.
constexpr int kShortlistFactor = 2;

/// When two rows are compared, a row longer than the other by this factor is searched instead of read.
constexpr std::size_t kLongRowFactor = 8;

/// Factor on a bound before candidates are dropped, so that rounding errors do not decide.
constexpr float kBoundSlack = 0.9999f;

/// A neighbor as an integer: larger if more similar, then if the row is lower. Similarities are positive; the
/// bits of positive floats are ordered like the floats.
using Key = std::uint64_t;
Key key_of(float similarity, std::int32_t row) {
  return Key{std::bit_cast<std::uint32_t>(similarity)} << 32 | ~static_cast<std::uint32_t>(row);
}
float similarity_of(Key key) { return std::bit_cast<float>(static_cast<std::uint32_t>(key >> 32)); }
std::int32_t row_of_key(Key key) { return static_cast<std::int32_t>(~static_cast<std::uint32_t>(key)); }

/// Workspace of a thread; every array except `touched` and `best` is all zero between rows.
struct Scratch {
  Scratch(std::int64_t rows, std::int64_t cols, std::size_t shortlist)
      : common(static_cast<std::size_t>(rows)),
        touched(static_cast<std::size_t>(rows) + 1),
        marked(static_cast<std::size_t>(cols)),
        best(shortlist) {}

  std::vector<float> common;          // by row: weight of the shared columns so far
  std::vector<std::int32_t> touched;  // rows with common > 0, and one extra slot for unconditional writes
  std::vector<float> marked;          // by column: its weight if it is in the current row
  std::vector<Key> best;              // largest first
};

/// Inserts a key larger than the last one, which is dropped.
void insert(std::span<Key> best, Key key) {
  std::size_t i = best.size() - 1;
  for (; i > 0 && best[i - 1] < key; --i) best[i] = best[i - 1];
  best[i] = key;
}

class Search {
 public:
  Search(const CsrView& a, const JaccardWeights& weights, const NearestOptions& options)
      : a_(a),
        weights_(weights),
        options_(options),
        lists_(formats::transpose({a.rows, a.cols, a.row_ptr, a.col_idx, {}})),
        columns_(a.cols) {
    parallel::loop(std::int64_t{0}, a.cols, [&](std::int64_t c) {
      const auto at = static_cast<std::size_t>(c);
      columns_[c] = {lists_.row_ptr[c], weights.entries[at], weights.column[at]};
    });
  }

  /// Returns the nearest rows of r, best first.
  std::span<const Key> find(std::int64_t r, Scratch& scratch) const {
    bool exact = true;
    const std::int64_t touched = touch(r, scratch, exact);
    const std::size_t kept = static_cast<std::size_t>(options_.neighbours);
    std::span<Key> best(scratch.best.data(), exact ? kept : scratch.best.size());
    choose(r, touched, scratch, best);
    best = best.first(static_cast<std::size_t>(std::ranges::find(best, Key{0}) - best.begin()));
    if (!exact) compare_in_full(r, scratch, best);
    return best.first(std::min(kept, best.size()));
  }

 private:
  /// Data for visiting a column, packed together.
  struct Column {
    std::int64_t first;  // in lists_
    std::int32_t entries;
    float weight;
  };

  /// Sums the weights that other rows share with r; returns the number of these rows. Clears `exact` if a
  /// limit applied.
  std::int64_t touch(std::int64_t r, Scratch& scratch, bool& exact) const {
    Reach reach = choose_columns(r);
    exact = reach.level == kAllLevels;
    std::int64_t touched = 0;
    for (const std::int32_t c : columns_of(a_, r)) {
      const Column& column = columns_[c];
      const int level = level_of(column);
      if (level > reach.level || (level == reach.level && reach.left <= 0)) continue;
      const std::span<const std::int32_t> list = part_of_list(column, r);
      if (level == reach.level) reach.left -= visited(column);
      exact = exact && visited(column) == column.entries;
      for (const std::int32_t u : list) {
        float& common = scratch.common[static_cast<std::size_t>(u)];
        scratch.touched[static_cast<std::size_t>(touched)] =
            u;  // overwritten unless u is new: avoids a branch
        touched += common == 0;
        common += column.weight;
      }
    }
    return touched;
  }

  /// All columns below `level` are visited, those at `level` while the budget lasts.
  struct Reach {
    int level;
    std::int64_t left;
  };
  static constexpr int kAllLevels = 33;

  /// Finds the column frequencies that the budget allows. Both rows of a pair then use the same columns: a
  /// column that is rare for one row is rare for the other.
  Reach choose_columns(std::int64_t r) const {
    std::int64_t all = 0;
    for (const std::int32_t c : columns_of(a_, r)) {
      __builtin_prefetch(lists_.col_idx.data() + columns_[c].first);
      all += visited(columns_[c]);
    }
    if (all <= options_.visits) return {kAllLevels, 0};
    std::array<std::int64_t, kAllLevels> visits{};
    for (const std::int32_t c : columns_of(a_, r))
      visits[static_cast<std::size_t>(level_of(columns_[c]))] += visited(columns_[c]);
    std::int64_t left = options_.visits;
    std::size_t level = 0;
    while (visits[level] <= left) left -= visits[level++];
    return {static_cast<int>(level), left};
  }

  static int level_of(const Column& c) { return std::bit_width(static_cast<std::uint32_t>(c.entries)); }
  std::int32_t visited(const Column& c) const { return std::min(c.entries, options_.list_rows); }

  std::span<const std::int32_t> part_of_list(const Column& column, std::int64_t r) const {
    const std::int32_t* const first = lists_.col_idx.data() + column.first;
    const std::int64_t length = column.entries, part = visited(column);
    if (part == length) return {first, static_cast<std::size_t>(length)};
    const std::int64_t own = std::lower_bound(first, first + length, r) - first;
    const std::int64_t start = std::clamp<std::int64_t>(own - part / 2, 0, length - part);
    return {first + start, static_cast<std::size_t>(part)};
  }

  /// Fills `best` from the visited rows, padded with zeros, and clears the sums of meet().
  void choose(std::int64_t r, std::int64_t touched, Scratch& scratch, std::span<Key> best) const {
    std::ranges::fill(best, Key{0});
    scratch.common[static_cast<std::size_t>(r)] = 0;
    // The union of columns weighs at least as much as those of r: this bound alone drops most candidates.
    const float own = weights_.row[static_cast<std::size_t>(r)] * kBoundSlack;
    float min = 0;
    for (std::int64_t i = 0; i < touched; ++i) {
      const std::int32_t u = scratch.touched[static_cast<std::size_t>(i)];
      const float common = std::exchange(scratch.common[static_cast<std::size_t>(u)], 0.0f);
      if (common <= min) continue;
      const Key key = key_of(weights_.similarity(r, u, common), u);
      if (key <= best.back()) continue;
      insert(best, key);
      min = similarity_of(best.back()) * own;
    }
  }

  /// Replaces the estimates of the shortlist by exact similarities.
  void compare_in_full(std::int64_t r, Scratch& scratch, std::span<Key> best) const {
    for (const Key key : best) __builtin_prefetch(&a_.row_ptr[static_cast<std::size_t>(row_of_key(key))]);
    for (const std::int32_t c : columns_of(a_, r))
      scratch.marked[static_cast<std::size_t>(c)] = columns_[c].weight;
    for (const Key key : best) __builtin_prefetch(columns_of(a_, row_of_key(key)).data());
    for (Key& key : best) {
      const std::int32_t u = row_of_key(key);
      key = key_of(weights_.similarity(r, u, common_weight(r, u, scratch)), u);
    }
    for (const std::int32_t c : columns_of(a_, r)) scratch.marked[static_cast<std::size_t>(c)] = 0;
    std::ranges::sort(best, std::greater{});
  }

  /// Sums over the marked columns of u. A row much longer than r is searched instead, so that dense rows cost
  /// no more than r.
  float common_weight(std::int64_t r, std::int64_t u, const Scratch& scratch) const {
    const auto own = columns_of(a_, r), other = columns_of(a_, u);
    float common = 0;
    if (other.size() / kLongRowFactor <= own.size()) {
      for (const std::int32_t c : other) common += scratch.marked[static_cast<std::size_t>(c)];
    } else {
      for (const std::int32_t c : own)
        if (std::ranges::binary_search(other, c)) common += columns_[c].weight;
    }
    return common;
  }

  const CsrView& a_;
  const JaccardWeights& weights_;
  const NearestOptions& options_;
  const formats::Csr lists_;  // row c: rows that contain column c, ascending
  formats::Buffer<Column> columns_;
};

}  // namespace

Result<NearestRows> nearest_rows(const CsrView& a, const JaccardWeights& weights,
                                 const NearestOptions& options) {
  NearestRows nearest{options.neighbours, formats::Buffer<Neighbour>(a.rows * options.neighbours),
                      formats::Buffer<std::int32_t>(a.rows)};
  const Search search(a, weights, options);
  begin(options.progress, "nearest rows", a.rows);
  parallel::PerThread<Scratch> scratches([&] {
    return Scratch(a.rows, a.cols, static_cast<std::size_t>(options.neighbours) * kShortlistFactor);
  });
  parallel::loop(tbb::blocked_range<std::int64_t>(0, a.rows, 256), [&](const auto& range) {
    if (cancelled(options.progress)) return;
    Scratch& scratch = scratches.local();
    for (std::int64_t r = range.begin(); r < range.end(); ++r) {
      const std::span<const Key> found = search.find(r, scratch);
      std::ranges::transform(found, nearest.all.data() + r * options.neighbours, [](Key key) {
        return Neighbour{row_of_key(key), similarity_of(key)};
      });
      nearest.counts[r] = static_cast<std::int32_t>(found.size());
    }
    advance(options.progress, range.end() - range.begin());
  });
  if (cancelled(options.progress)) return fail(Errc::io, "cancelled");
  return nearest;
}

}  // namespace sptile::reorder
