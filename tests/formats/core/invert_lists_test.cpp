#include "formats/core/invert_lists.hpp"

#include <doctest/doctest.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <vector>

#include "formats/core/parallel_select.hpp"
#include "formats/core/random.hpp"

using namespace sptile;

TEST_CASE("invert_lists: the items of each key, ascending, for any number of keys and threads") {
  for (const std::int64_t keys : {0, 1, 3, 511, 512, 513, 70000})
    for (const std::int64_t items : {0, 1, 50, 9000}) {
      CAPTURE(keys);
      CAPTURE(items);
      std::vector<std::vector<std::int32_t>> lists(static_cast<std::size_t>(items));
      std::vector<std::int64_t> before = {0};
      std::vector<std::vector<std::int32_t>> expected(static_cast<std::size_t>(keys));
      for (std::int64_t i = 0; i < items; ++i) {
        RandomStream random(1, static_cast<std::uint64_t>(i));
        for (std::int64_t left = keys == 0 ? 0 : random.below(20); left > 0; --left) {
          const std::int64_t key = random.below(1 + random.below(keys));
          lists[static_cast<std::size_t>(i)].push_back(static_cast<std::int32_t>(key));
          expected[static_cast<std::size_t>(key)].push_back(static_cast<std::int32_t>(i));
        }
        before.push_back(before.back() + std::ssize(lists[static_cast<std::size_t>(i)]));
      }
      for (const int threads : {1, 2, 8}) {
        const auto inverse = tbb::task_arena(threads).execute([&] {
          return formats::invert_lists(
              keys, before, [&](std::int64_t item) -> const auto& {
                return lists[static_cast<std::size_t>(item)];
              });
        });
        REQUIRE(inverse.first.size() == keys + 1);
        std::int64_t wrong = 0;
        for (std::int64_t key = 0; key < keys; ++key)
          wrong += !std::equal(
              inverse.items.data() + inverse.first[key], inverse.items.data() + inverse.first[key + 1],
              expected[static_cast<std::size_t>(key)].begin(), expected[static_cast<std::size_t>(key)].end());
        CHECK(wrong == 0);
        CHECK(inverse.first[keys] == before.back());
      }
    }
}

TEST_CASE("select: indices in order, for any number of threads") {
  for (const std::int64_t n : {0, 1, 8191, 8192, 8193, 100000})
    for (const int threads : {1, 3}) {
      std::vector<std::int64_t> expected, found(static_cast<std::size_t>(n), -1);
      const auto keep = [](std::int64_t i) { return i % 7 == 3 || i % 1000 < 40; };
      for (std::int64_t i = 0; i < n; ++i)
        if (keep(i)) expected.push_back(i);
      const std::int64_t count = tbb::task_arena(threads).execute([&] {
        return parallel::select(
            n, keep, [&](std::int64_t at, std::int64_t i) { found[static_cast<std::size_t>(at)] = i; });
      });
      found.resize(static_cast<std::size_t>(count));
      CHECK(found == expected);
    }
}
