#include "reorder/similarity/partners.hpp"

#include <tbb/blocked_range.h>

#include <algorithm>
#include <cmath>

#include "formats/core/parallel_loop.hpp"
#include "formats/core/parallel_sort.hpp"
#include "formats/core/per_thread.hpp"

namespace sptile::reorder {
namespace {

/// Orders by descending similarity; on ties, pairs whose numbers differ only in low bits come first.
/// Otherwise equal rows would all choose the same few partners, whereas the nearest item by x ^ y is mostly
/// mutual.
bool more_alike(const Pair& a, const Pair& b) {
  if (a.similarity != b.similarity) return a.similarity > b.similarity;
  return (a.x ^ a.y) != (b.x ^ b.y) ? (a.x ^ a.y) < (b.x ^ b.y) : a.x < b.x;
}

/// Sums the shared weights of an item with others; one per thread.
class PartnerSearch {
 public:
  PartnerSearch(const ColumnSets& sets, const ColumnLists& lists, const Weights& weights,
                std::span<const std::uint8_t> used, const PartnerOptions& options)
      : sets_(sets),
        lists_(lists),
        weights_(weights),
        used_(used),
        options_(options),
        shared_(static_cast<std::size_t>(sets.items), 0.0f) {}

  /// Writes the best pairs of an item; returns their number.
  int find(std::int32_t item, Pair* out) {
    for (const std::int32_t column : sets_.of(item))
      for (const std::int32_t other : near_part(column, item)) {
        float& shared = shared_[static_cast<std::size_t>(other)];
        if (shared == 0.0f) touched_.push_back(other);
        shared += weights_.of_column[column];
      }
    int count = 0;
    for (const std::int32_t other : touched_) {
      const auto o = static_cast<std::size_t>(other);
      const float both = std::exchange(shared_[o], 0.0f);
      if (other == item || (!used_.empty() && used_[o] != 0)) continue;
      const float either = weights_.of_item[item] + weights_.of_item[other] - both;
      keep({both / either, std::min(item, other), std::max(item, other)}, out, count);
    }
    touched_.clear();
    return count;
  }

 private:
  std::span<const std::int32_t> near_part(std::int32_t column, std::int32_t item) const {
    const auto list = lists_.of(column);
    const std::int64_t share = options_.item_lookups / std::max<std::int64_t>(1, sets_.size[item]);
    const auto max = static_cast<std::size_t>(std::clamp<std::int64_t>(share, 4, options_.longest_list));
    if (list.size() <= max) return list;
    const auto here =
        static_cast<std::size_t>(std::lower_bound(list.begin(), list.end(), item) - list.begin());
    return list.subspan(std::min(here - std::min(here, max / 2), list.size() - max), max);
  }

  /// Inserts a pair into the best `partners` found so far.
  void keep(const Pair& pair, Pair* out, int& count) const {
    if (count == options_.partners && !more_alike(pair, out[count - 1])) return;
    int at = count < options_.partners ? count++ : count - 1;
    for (; at > 0 && more_alike(pair, out[at - 1]); --at) out[at] = out[at - 1];
    out[at] = pair;
  }

  const ColumnSets& sets_;
  const ColumnLists& lists_;
  const Weights& weights_;
  std::span<const std::uint8_t> used_;
  const PartnerOptions& options_;
  std::vector<float> shared_;          // by item; 0 between searches
  std::vector<std::int32_t> touched_;  // items with nonzero shared_
};

}  // namespace

Weights weigh(const ColumnSets& sets, const ColumnLists& lists) {
  Weights weights{formats::Buffer<float>(sets.cols), formats::Buffer<float>(sets.items)};
  parallel::loop(std::int64_t{0}, sets.cols, [&](std::int64_t c) {
    const std::size_t holders = std::max<std::size_t>(1, lists.of(c).size());
    weights.of_column[c] = 1.0f / std::sqrt(static_cast<float>(holders));
  });
  parallel::loop(std::int64_t{0}, sets.items, [&](std::int64_t i) {
    float sum = 0;
    for (const std::int32_t column : sets.of(i)) sum += weights.of_column[column];
    weights.of_item[i] = sum;
  });
  return weights;
}

std::vector<Pair> alike_pairs(const ColumnSets& sets, const ColumnLists& lists, const Weights& weights,
                              std::span<const std::uint8_t> used, const PartnerOptions& options) {
  const auto width = static_cast<std::size_t>(options.partners);
  formats::Buffer<Pair> found(sets.items * options.partners);
  formats::Buffer<std::int32_t> count(sets.items);
  parallel::PerThread<PartnerSearch> searches(
      [&] { return PartnerSearch(sets, lists, weights, used, options); });
  parallel::loop(tbb::blocked_range<std::int64_t>(0, sets.items, 256), [&](const auto& range) {
    PartnerSearch& search = searches.local();
    const bool stop = cancelled(options.progress);
    for (std::int64_t i = range.begin(); i < range.end(); ++i) {
      const bool skip = stop || (!used.empty() && used[static_cast<std::size_t>(i)] != 0);
      count[i] = skip ? 0 : search.find(static_cast<std::int32_t>(i), found.data() + i * options.partners);
    }
  });
  std::vector<Pair> pairs;
  pairs.reserve(static_cast<std::size_t>(sets.items) * width);
  for (std::int64_t i = 0; i < sets.items; ++i)
    pairs.insert(pairs.end(), found.data() + i * options.partners,
                 found.data() + i * options.partners + count[i]);
  parallel::sort(pairs.begin(), pairs.end(), more_alike);
  // Both items may have found the same pair. Capped lists may give it two similarities; matching ignores the
  // second, because both items then have a mate.
  pairs.erase(std::unique(pairs.begin(), pairs.end(),
                          [](const Pair& a, const Pair& b) { return a.x == b.x && a.y == b.y; }),
              pairs.end());
  return pairs;
}

}  // namespace sptile::reorder
