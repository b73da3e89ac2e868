// Stable parallel counting sort, which converts coordinates to rows and rows to columns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "formats/core/buffer.hpp"
#include "formats/core/parallel_loop.hpp"

namespace sptile::formats {

/// Suggests the number of parts for `items`: at most one per thread, and few enough that the counters (one
/// per part and key) need little memory compared with the items.
inline int sort_parts(std::int64_t items, std::int64_t keys) {
  constexpr std::int64_t kMin = 1 << 14;  // minimum number of items per task
  const std::int64_t affordable = items / std::max(4 * keys, kMin);
  return static_cast<int>(std::clamp<std::int64_t>(affordable, 1, parallel::max_threads()));
}

/// Turns counts into starting positions: counts[part][key] becomes the position of the part's first item with
/// that key, when items are ordered by key, then by part. Returns keys + 1 positions: where each key starts.
Buffer<std::int64_t> start_positions(std::vector<Buffer<std::int64_t>>& counts, std::int64_t keys);

/// Places items by key, keeping the order of items with equal keys; the same result for any number of parts.
/// visit(part, sink) calls sink(key, item...) for each item of a part in order; it runs twice.
/// place(position, item...) stores one item. Returns keys + 1 positions. O(items + keys * parts) time, 8
/// bytes per key and part.
template <class Visit, class Place>
Buffer<std::int64_t> counting_sort(std::int64_t keys, int parts, const Visit& visit, const Place& place) {
  std::vector<Buffer<std::int64_t>> next(static_cast<std::size_t>(parts));
  parallel::loop(0, parts, [&](int part) {
    Buffer<std::int64_t> count(keys);
    std::fill(count.begin(), count.end(), 0);
    visit(part, [&](std::int64_t key, auto&&...) { ++count[key]; });
    next[static_cast<std::size_t>(part)] = std::move(count);
  });
  Buffer<std::int64_t> starts = start_positions(next, keys);
  parallel::loop(0, parts, [&](int part) {
    Buffer<std::int64_t>& position = next[static_cast<std::size_t>(part)];
    visit(part, [&](std::int64_t key, auto&&... item) { place(position[key]++, item...); });
  });
  return starts;
}

}  // namespace sptile::formats
