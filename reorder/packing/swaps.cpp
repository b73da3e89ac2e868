#include "reorder/packing/swaps.hpp"

#include <tbb/blocked_range.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cassert>

#include "formats/core/parallel_loop.hpp"
#include "formats/core/per_thread.hpp"
#include "reorder/packing/window_pair.hpp"

namespace sptile::reorder {
namespace {

constexpr int kColours = 32;

/// Assigns pairs to colors, most similar first: each pair gets the first color that neither window has. Pairs
/// without a free color are skipped.
std::vector<std::vector<Pair>> colour(std::span<const Pair> pairs, std::int64_t windows) {
  std::vector<std::uint32_t> taken(static_cast<std::size_t>(windows), 0);
  std::vector<std::vector<Pair>> colours(kColours);
  for (const Pair& pair : pairs) {
    std::uint32_t &x = taken[static_cast<std::size_t>(pair.x)], &y = taken[static_cast<std::size_t>(pair.y)];
    const int first = std::countr_one(x | y);
    if (first == kColours) continue;
    x |= std::uint32_t{1} << first, y |= std::uint32_t{1} << first;
    colours[static_cast<std::size_t>(first)].push_back(pair);
  }
  return colours;
}

std::vector<Pair> partner_windows(const formats::CsrView& a, std::span<const std::int32_t> order,
                                  const SwapOptions& options) {
  const ColumnSets sets = sets_of_windows(a, order, options.window_rows);
  const ColumnLists lists = lists_of_columns(sets);
  return alike_pairs(sets, lists, weigh(sets, lists), {}, options.partners);
}

}  // namespace

Status swap_rows(const formats::CsrView& a, std::span<std::int32_t> order, const SwapOptions& options) {
  assert(options.window_rows <= kTallestPair);
  const auto height = static_cast<std::size_t>(options.window_rows);
  const auto windows = static_cast<std::int64_t>(order.size() / height);
  Progress* const progress = options.partners.progress;
  begin(progress, "swap rows", options.passes * windows);
  parallel::PerThread<WindowPair> scratch([&] { return WindowPair(a); });
  for (int pass = 0; pass < options.passes; ++pass) {
    std::atomic<std::int64_t> swaps{0};
    for (const std::vector<Pair>& pairs : colour(partner_windows(a, order, options), windows))
      parallel::loop(tbb::blocked_range<std::size_t>(0, pairs.size(), 64), [&](const auto& range) {
        if (cancelled(progress)) return;
        WindowPair& pair = scratch.local();
        std::int64_t local = 0;
        for (std::size_t i = range.begin(); i < range.end(); ++i)
          local += pair.improve(order.subspan(static_cast<std::size_t>(pairs[i].x) * height, height),
                                order.subspan(static_cast<std::size_t>(pairs[i].y) * height, height));
        swaps.fetch_add(local, std::memory_order_relaxed);
      });
    if (cancelled(progress)) return fail(Errc::io, "cancelled");
    advance(progress, windows);
    if (swaps.load() < windows / 200) break;
  }
  return {};
}

}  // namespace sptile::reorder
