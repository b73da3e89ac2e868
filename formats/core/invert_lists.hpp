// Inversion of lists of keys, which turns the columns of rows into the rows of columns.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "formats/core/buffer.hpp"
#include "formats/core/counting_sort.hpp"
#include "formats/core/parallel_loop.hpp"

namespace sptile::formats {

/// The items whose lists contain a key, ascending: items[first[key]] .. items[first[key + 1] - 1].
struct InverseLists {
  Buffer<std::int64_t> first;
  Buffer<std::int32_t> items;
};

/// Inverts one list of keys per item; list_of(item) returns a range of keys in 0 .. keys - 1, and `before`
/// has the total length of the lists before each item, then of all lists. The same result for any number of
/// threads. O(entries + keys), parallel. Memory in addition to the result: 8 bytes per key and thread if that
/// is at most 1 byte per entry. Otherwise 8 bytes per entry: entries are sorted by ranges of keys, then
/// within each range, so that both sorts write to few places at a time.
template <class ListOf>
InverseLists invert_lists(std::int64_t keys, std::span<const std::int64_t> before, const ListOf& list_of) {
  constexpr std::int64_t kEntries = 1 << 14;  // minimum per part
  constexpr int kBucketBits = 9;              // at most 512 ranges of keys
  const std::int64_t entries = before.back();
  const auto parts =
      static_cast<int>(std::clamp<std::int64_t>(entries / kEntries, 1, parallel::max_threads()));
  const auto first_item = [&](int part) {
    if (part == parts) return std::ssize(before) - 1;
    return std::lower_bound(before.begin(), before.end() - 1, entries / parts * part) - before.begin();
  };
  const auto sort = [&](std::int64_t sort_keys, int shift, const auto& place) {
    return counting_sort(
        sort_keys, parts,
        [&](int part, auto&& sink) {
          for (std::int64_t item = first_item(part), end = first_item(part + 1); item < end; ++item)
            for (const std::int32_t key : list_of(item))
              sink(key >> shift, key, static_cast<std::int32_t>(item));
        },
        place);
  };
  if (8 * keys * parts <= entries) {
    Buffer<std::int32_t> items(entries);
    Buffer<std::int64_t> first =
        sort(keys, 0, [&](std::int64_t at, std::int32_t, std::int32_t item) { items[at] = item; });
    return {std::move(first), std::move(items)};
  }
  const int shift =
      std::max(0, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(keys))) - kBucketBits);
  const std::int64_t buckets = (keys >> shift) + 1;
  struct Entry {
    std::int32_t key, item;
  };
  Buffer<Entry> sorted(entries);
  const Buffer<std::int64_t> bucket =
      sort(buckets, shift, [&](std::int64_t at, std::int32_t key, std::int32_t item) {
        sorted[at] = {key, item};
      });

  InverseLists inverse{Buffer<std::int64_t>(keys + 1), Buffer<std::int32_t>(entries)};
  inverse.first[keys] = entries;
  parallel::loop(std::int64_t{0}, buckets, [&](std::int64_t b) {
    const std::int64_t first_key = b << shift, end_key = std::min(keys, (b + 1) << shift);
    std::vector<std::int64_t> next(static_cast<std::size_t>(end_key - first_key), 0);
    const auto next_of = [&](std::int64_t i) -> std::int64_t& {
      return next[static_cast<std::size_t>(sorted[i].key - first_key)];
    };
    for (std::int64_t i = bucket[b]; i < bucket[b + 1]; ++i) ++next_of(i);
    std::int64_t position = bucket[b];
    for (std::int64_t key = first_key; key < end_key; ++key) {
      inverse.first[key] = position;
      position += std::exchange(next[static_cast<std::size_t>(key - first_key)], position);
    }
    for (std::int64_t i = bucket[b]; i < bucket[b + 1]; ++i) inverse.items[next_of(i)++] = sorted[i].item;
  });
  return inverse;
}

}  // namespace sptile::formats
