#include "reorder/packing/matching.hpp"

#include <algorithm>
#include <utility>

namespace sptile::reorder {
namespace {

constexpr std::int32_t kNone = -1;

/// Pairs the unmatched items in order: the first with the second, the third with the fourth, ...
void match_rest(std::span<std::int32_t> mate) {
  std::int32_t waiting = kNone;
  for (std::size_t i = 0; i < mate.size(); ++i) {
    if (mate[i] != kNone) continue;
    const auto item = static_cast<std::int32_t>(i);
    if (waiting == kNone) {
      waiting = item;
    } else {
      mate[i] = waiting;
      mate[static_cast<std::size_t>(waiting)] = item;
      waiting = kNone;
    }
  }
}

/// Returns the mate of each item of a level, or kNone for the unmatched item of an odd number.
std::vector<std::int32_t> match_level(const ColumnSets& sets, const MatchingOptions& options) {
  const ColumnLists lists = lists_of_columns(sets);
  const Weights weights = weigh(sets, lists);
  const auto items = static_cast<std::size_t>(sets.items);
  std::vector<std::int32_t> mate(items, kNone);
  std::vector<std::uint8_t> used(items, 0);
  std::int64_t left = sets.items;
  for (int round = 0; round < options.rounds && left > 1; ++round) {
    const std::vector<Pair> pairs = alike_pairs(sets, lists, weights, used, options.partners);
    const std::int64_t chosen = match_greedily(pairs, mate);
    if (chosen == 0) break;
    left -= 2 * chosen;
    for (std::size_t i = 0; i < items; ++i) used[i] = mate[i] != kNone;
  }
  match_rest(mate);
  return mate;
}

/// Lists pairs in the order of their first items, 2 elements per pair.
std::vector<std::int32_t> list_pairs(std::span<const std::int32_t> mate) {
  std::vector<std::int32_t> pairs;
  pairs.reserve(mate.size());
  for (std::size_t i = 0; i < mate.size(); ++i)
    if (mate[i] > static_cast<std::int32_t>(i))
      pairs.insert(pairs.end(), {static_cast<std::int32_t>(i), mate[i]});
  return pairs;
}

/// Moves blocks of `rows` rows: first those of `pairs`, then the unmatched block, then the remaining rows.
void move_items(std::vector<std::int32_t>& order, std::size_t rows, std::span<const std::int32_t> pairs,
                std::span<const std::int32_t> mate) {
  std::vector<std::int32_t> moved;
  moved.reserve(order.size());
  const auto append = [&](std::size_t item) {
    const auto begin = order.begin() + static_cast<std::ptrdiff_t>(item * rows);
    moved.insert(moved.end(), begin, begin + static_cast<std::ptrdiff_t>(rows));
  };
  for (const std::int32_t item : pairs) append(static_cast<std::size_t>(item));
  for (std::size_t i = 0; i < mate.size(); ++i)
    if (mate[i] == kNone) append(i);
  moved.insert(moved.end(), order.begin() + static_cast<std::ptrdiff_t>(mate.size() * rows), order.end());
  order = std::move(moved);
}

}  // namespace

std::int64_t match_greedily(std::span<const Pair> pairs, std::span<std::int32_t> mate) {
  std::int64_t chosen = 0;
  for (const Pair& pair : pairs) {
    std::int32_t& mate_x = mate[static_cast<std::size_t>(pair.x)];
    std::int32_t& mate_y = mate[static_cast<std::size_t>(pair.y)];
    if (mate_x != kNone || mate_y != kNone) continue;
    mate_x = pair.y, mate_y = pair.x;
    ++chosen;
  }
  return chosen;
}

Result<std::vector<std::int32_t>> match_upwards(const formats::CsrView& a,
                                                std::span<const std::int32_t> order,
                                                const MatchingOptions& options) {
  std::vector<std::int32_t> result(order.begin(), order.end());
  std::int64_t rows = options.window_rows;
  begin(options.partners.progress, "match windows", static_cast<std::int64_t>(order.size()) / rows);
  ColumnSets sets = rows == 1 ? sets_of_rows(a, order) : sets_of_windows(a, order, options.window_rows);
  for (; 2 * rows <= options.max_rows && sets.items > 1; rows *= 2) {
    const std::vector<std::int32_t> mate = match_level(sets, options);
    if (cancelled(options.partners.progress)) return fail(Errc::io, "cancelled");
    const std::vector<std::int32_t> pairs = list_pairs(mate);
    move_items(result, static_cast<std::size_t>(rows), pairs, mate);
    advance(options.partners.progress, sets.items / 2);
    if (4 * rows <= options.max_rows) sets = unite_pairs(sets, pairs);
  }
  return result;
}

}  // namespace sptile::reorder
